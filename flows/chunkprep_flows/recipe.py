"""How a run makes chunks: policy, profile and counter, chosen once and the same in every worker."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from chunkprep_ingest.errors import NotFoundError, ProfileError
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import TEMPLATES, Template

if TYPE_CHECKING:
    from chunkprep_flows.ingest_settings import IngestSettings
    from chunkprep_ingest.counting import RunningCounter
    from chunkprep_ingest.profile import Profile
    from chunkprep_store import Store

DEFAULT_ENCODING = "o200k_base"
DEFAULT_TEMPLATE = "markdown"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything but the document that its chunks depend on. Small: it travels to workers."""

    policy: Policy
    encoding: str
    template: Template

    def counter(self) -> RunningCounter:
        """The tokenizer, made once per process."""
        from chunkprep_ingest.tokens import counter_for

        return counter_for(self.encoding)

    def profile(self) -> Profile:
        """The profile, made once per process; raises ProfileError or PolicyError where recipe and
        tokenizer clash.
        """
        return _profile(self)


@cache
def _profile(recipe: Recipe) -> Profile:
    from chunkprep_ingest.profile import check_policy, make_profile

    profile = make_profile(recipe.counter(), recipe.template)
    check_policy(recipe.policy, profile)
    return profile


def choose_recipe(settings: IngestSettings, store: Store) -> Recipe:
    """What the settings ask for, and for the rest what the collection was made with."""
    recipe = recorded_recipe(store, settings.collection)
    recipe = replace(recipe, policy=settings.applied(recipe.policy))
    if settings.encoding is not None:
        recipe = replace(recipe, encoding=settings.encoding)
    if settings.template is not None:
        recipe = replace(recipe, template=named_template(settings.template))
    return recipe


def recipe_change(settings: IngestSettings, store: Store, recipe: Recipe) -> str | None:
    """A warning where the collection was made with another recipe than it will be, else None."""
    if settings.collection not in store.collections():
        return None
    before = recorded_recipe(store, settings.collection)
    old, new = asdict(before.policy), asdict(recipe.policy)
    old["encoding"], new["encoding"] = before.encoding, recipe.encoding
    changes = [
        f"{name} from {_said(old[name])} to {_said(new[name])}"
        for name in old
        if old[name] != new[name]
    ]
    if before.template != recipe.template:
        changes.append("template")
    if not changes:
        return None
    return (
        f"collection {settings.collection!r} changes its {' and its '.join(changes)}: all its "
        f"documents are made again, each when it is ingested"
    )


def _said(value: object) -> str:
    """A setting's value in a sentence."""
    if isinstance(value, tuple):
        return " and ".join(value) or "none"
    return "its default" if value is None else str(value)


def recorded_recipe(store: Store, collection: str) -> Recipe:
    """What the collection was made with; the defaults for a new one."""
    try:
        profile = store.profile(collection)
    except NotFoundError:
        return Recipe(Policy(), DEFAULT_ENCODING, TEMPLATES[DEFAULT_TEMPLATE])
    policy = store.primary_policy(collection) or Policy()
    return Recipe(policy, profile.encoding, profile.template)


def named_template(name: str) -> Template:
    """A built-in template by name, or one from a JSON file. Raises ProfileError."""
    if name in TEMPLATES:
        return TEMPLATES[name]
    try:
        return Template.from_json(Path(name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        names = ", ".join(TEMPLATES)
        raise ProfileError(
            f"template {name!r} is neither one of {names} nor a file that can be read: {error}"
        ) from error


def keep_profile(store: Store, profile: Profile) -> None:
    """Store a profile, so that its blocks can be rendered and counted again."""
    store.put_profile(
        profile.fingerprint,
        profile.encoding,
        profile.template.to_json(),
        profile.ordinal_tokens or 0,
        exact=profile.exact,
        margin=profile.margin,
    )
