"""Tables of an older version are brought up to date, and nobody notices."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from karat.studio.models import Base
from karat.studio.services import people, session, studies
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
