"""Tables of an older version are brought up to date, and nobody notices."""

import json

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from pydantic import ValidationError
from sqlalchemy import inspect, text

from karat.metrics import FairMetric
from karat.studio.models import Base
from karat.studio.services import asking, people, session, studies
from karat.studio.storage import REVISION, Store, migrate


def columns(store, table):
    return {column["name"] for column in inspect(store.engine).get_columns(table)}


def test_the_migrations_make_the_tables_of_the_models(any_store):
    with any_store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == REVISION
        changed = [c for c in compare_metadata(context, Base.metadata) if c[0] != "add_index"]
    assert [change for change in changed if "kind" not in str(change)] == []


def test_a_study_of_the_older_tables_goes_on(kit, any_url):
    """A person half through the study before the migration is asked the same question after it."""
    new = kit.opened(any_url)
    player = kit.Player(new, kit.make(new))
    player.compare(4)
    before = player.here.page
    with new.engine.begin() as connection:  # back to the first version of the tables
        grows = "" if new.engine.dialect.name == "sqlite" else " ON log"
        connection.execute(text(f"DROP TRIGGER log_only_grows{grows}"))
        if grows:
            connection.execute(text("DROP FUNCTION log_only_grows"))
        connection.execute(text("DROP TABLE note"))
        connection.execute(text("ALTER TABLE person DROP COLUMN kind"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    new.close()
    old = Store(new.settings, clock=new.clock)
    assert "kind" not in columns(old, "person")
    old.migrate()
    assert "kind" in columns(old, "person")
    assert people.get(old, player.person.id).kind == "person"
    assert people.add_note(old, player.person.id, "after the migration") is not None
    assert session.current_step(old, player.person.id).page == before
    player.store = old
    assert player.send().accepted
    assert len(studies.list_all(old)) == 1
    old.close()


def as_before(store, study, word):
    """Put a study back to where one word said the family and the space, and its snapshots too."""
    config = study.config | {"version": 1, "options": study.config["options"] | {"family": word}}
    del config["options"]["space"]
    with store.engine.begin() as connection:
        change = text("UPDATE study SET config = :config WHERE id = :id")
        connection.execute(change, {"config": json.dumps(config), "id": study.id})
        for key, data in connection.execute(text("SELECT person_id, data FROM snapshot")).all():
            at = len(b"KARAT-ELICIT")
            old = data[:at] + (2).to_bytes(2, "little") + data[at + 2 :]
            change = text("UPDATE snapshot SET data = :data WHERE person_id = :id")
            connection.execute(change, {"data": old, "id": key})
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))


@pytest.mark.parametrize(
    ("word", "k", "family", "space"),
    [
        ("linear", 2, "linear", None),
        ("ratio", 2, "ratio", None),
        ("diagonal", 3, "linear", "diagonal"),
        ("diagonal", 2, "linear", "diagonal"),
        ("diagonal-ratio", 3, "ratio", "diagonal"),
        ("monotone", 3, "monotone", None),
        ("monotone", 2, "linear", None),  # which is what two classes were asked about
        ("quadratic", 2, "quadratic", None),
        ("fair", 2, "linear", "groups"),
        ("fair-quadratic", 2, "quadratic", "groups"),
    ],
)
def test_studies_of_one_word_have_a_family_and_a_space(kit, store, word, k, family, space):
    """Their config is migrated, and a person in the middle of it is asked the same question."""
    data = kit.grouped_data(n=200, k=k)
    study = kit.make(store, data, family=family, space=space, max_queries=6)
    metric = FairMetric([1, 2], [[1, 1]], 0.5) if space == "groups" else "accuracy"
    player = kit.Player(store, study, metric=metric)
    player.compare(2)
    before = player.here.page
    as_before(store, study, word)
    with pytest.raises(ValidationError):
        studies.config_of(studies.get(store, study.id))
    store.migrate()
    options = studies.config_of(studies.get(store, study.id)).options
    assert (options.family, options.space) == (family, space)
    assert session.current_step(store, player.person.id).page == before
    asked = studies.asked_of(store, studies.get(store, study.id))
    replayed = session.elicitation_of(store, people.get(store, player.person.id))
    assert asking.query_of(before).first.tolist() == replayed.ask().first.tolist()
    assert replayed.family == family
    assert asked.fair == (space == "groups")
    assert player.send().accepted


def test_a_database_of_the_first_version_is_brought_up_to_date(any_url, kit):
    from karat.studio import Settings

    store = Store(Settings(database_url=any_url))
    migrate(store.engine, "0001")
    assert not inspect(store.engine).has_table("note")
    store.migrate()
    store.migrate()  # once more changes nothing
    assert inspect(store.engine).has_table("note")
    with store.engine.connect() as connection:
        assert connection.execute(
            text("SELECT version_num FROM alembic_version")
        ).scalars().all() == [REVISION]
    store.close()


def test_workers_that_start_together_migrate_once(any_url):
    from concurrent.futures import ThreadPoolExecutor

    from karat.studio import Settings

    stores = [Store(Settings(database_url=any_url)) for _ in range(4)]
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(Store.migrate, stores))
        secrets = set(workers.map(lambda store: store.secret, stores))
    assert len(secrets) == 1
    for store in stores:
        store.close()
