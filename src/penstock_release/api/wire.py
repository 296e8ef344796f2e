"""What bodies and answers look like, for the description of the API."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import UNSET, Struct, UnsetType

T = TypeVar("T")


class Results(Struct, Generic[T]):
    """Some of many."""

    count: int
    next: str | None
    previous: str | None
    results: list[T]


class Listing(Struct):
    """Which page."""

    limit: str | None = None
    offset: str | None = None


class TaskServiceIn(Struct):
    """A task service to be registered or changed."""

    name: str
    description: str
    author: str
    url: str
    enabled: bool = True


class TaskService(Struct):
    """A task service."""

    kf_id: str
    name: str
    description: str
    last_ok_status: int
    author: str
    health_status: str
    url: str
    created_at: str
    enabled: bool


class ServiceListing(Listing):
    """Which services."""

    enabled: str | None = None


class TaskReport(Struct):
    """What a task service says of its task."""

    state: str | UnsetType = UNSET
    progress: int | str | UnsetType | None = UNSET


class Since(Struct):
    """A state, and when it began."""

    state: str
    at: str


class ReleaseTask(Struct):
    """The part of one service in a release; `states` are those it has been in."""

    kf_id: str
    state: str
    progress: int
    release: str
    task_service: str
    created_at: str
    service_name: str
    states: list[Since]


class TaskListing(Listing):
    """Which tasks."""

    release: str | None = None
    task_service: str | None = None
    state: str | None = None


class DataReleaseIn(Struct):
    """A release to be made or changed."""

    name: str
    studies: list[str]
    description: str = ""
    tags: list[str] = []
    author: str = "admin"
    is_major: bool = False
    services: list[str] | UnsetType = UNSET


class OtherServices(Struct):
    """Which services take part this time: the same where none are said, null for all that are enabled."""

    services: list[str] | UnsetType | None = UNSET


class DataRelease(Struct):
    """A release; `states` are those it has been in, `next_version` is what it has once it is published."""

    kf_id: str
    name: str
    description: str
    state: str
    studies: list[str]
    tasks: list[ReleaseTask]
    notes: list[str]
    version: str
    created_at: str
    tags: list[str]
    author: str
    is_major: bool
    partly_published: list[str]
    run: str | None
    states: list[Since]
    next_version: str | None


class ReleaseListing(Listing):
    """Which releases."""

    state: str | None = None


class EventIn(Struct):
    """An event to be recorded or changed."""

    event_type: str
    message: str
    release: str | None = None
    task: str | None = None
    task_service: str | None = None


class ReleaseEvent(Struct):
    """Something that happened to a release or a task."""

    kf_id: str
    event_type: str
    message: str
    release: str | None
    task_service: str | None
    task: str | None
    created_at: str


class EventListing(Listing):
    """Which events."""

    release: str | None = None
    task_service: str | None = None
    task: str | None = None
    event_type: str | None = None  # one, or several with commas between them


class StudyIn(Struct):
    """A study to be added by hand."""

    kf_id: str
    name: str


class Study(Struct):
    """A study."""

    kf_id: str
    name: str
    visible: bool
    deleted: bool
    version: str | None
    last_pub_version: str | None
    last_pub_date: str | None
    created_at: str
    by_hand: bool = False


class ReleaseNoteIn(Struct):
    """A release note to be written or changed."""

    description: str
    study: str
    release: str
    author: str = "admin"


class ReleaseNote(Struct):
    """A release note."""

    kf_id: str
    author: str
    description: str
    study: str
    release: str
    created_at: str


class NoteListing(Listing):
    """Which notes."""

    author: str | None = None
    study: str | None = None
    release: str | None = None


class Said(Struct):
    """What became of it."""

    status: str
    message: str


class Synced(Said):
    """How many studies came and went."""

    new: int = 0
    deleted: int = 0


class Message(Struct):
    """A word."""

    message: str
