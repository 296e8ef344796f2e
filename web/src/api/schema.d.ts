/**
 * The shapes of bodies and answers, made from the description of the API: `make reference` writes this file.
 */

export interface components {
  schemas: {
    /** An answer for each item, in their order. */
    AllTold: {
      items: components['schemas']['penstock.remote.wire.Told'][]
      now: string
    }
    /** What somebody is asked to decide; `may_decide` says whether the caller may, `barred` why four eyes forbid it. */
    Approval: {
      id: string
      run: string
      workflow: string
      subject: string | null
      step: string
      index: number | null
      status: 'approved' | 'closed' | 'expired' | 'open' | 'rejected'
      role: string
      text: string | null
      fields: unknown
      separate: boolean
      opened_at: string
      due_at: string | null
      ended_at: string | null
      decision: unknown
      may_decide: boolean
      barred: string | null
    }
    /** Some items, and the position after them. */
    ApprovalPage: {
      items: components['schemas']['Approval'][]
      next: string | null
    }
    /** From when to when, both included: a day, or a time; what has no zone is of the schedule's zone. */
    AskBackfill: {
      from: string
      to: string
      dry_run: boolean
    }
    /** What somebody did. */
    AuditEntry: {
      number: number
      at: string
      actor: string
      token_id: string | null
      ip: string | null
      action: string
      target: string
      before: string | null
      after: string | null
      reason: string | null
      hash: string
    }
    /** Some items, and the position after them. */
    AuditEntryPage: {
      items: components['schemas']['AuditEntry'][]
      next: string | null
    }
    /** How far the last backfill is; `there` had made their run before. Its runs have `label` as `penstock.backfill`. */
    BackfillState: {
      from: string
      to: string
      count: number
      made: number
      there: number
      failed: number
      state: string
      label: string
      error: string | null
    }
    /** How many ticks there are; `label` is that of the runs, none where nothing is done. */
    Backfilled: {
      workflow: string
      from: string
      to: string
      count: number
      label: string | null
      dry_run: boolean
    }
    /** One action on every run that fits; with `dry_run` they are only counted. `force` is of cancel. */
    Bulk: {
      filter: components['schemas']['RunFilter']
      action: 'cancel' | 'pause' | 'rerun' | 'resume' | 'retry'
      dry_run: boolean
      force: boolean
    }
    /** `count` runs that fit; by `statuses` where they are only counted, else what became of them. */
    BulkDone: {
      action: string
      count: number
      statuses: Record<string, number>
      done: number
      refused: number
      failed: number
      errors: Record<string, string>[]
      more: boolean
      made: string[]
    }
    /** A workflow as a function, within `timeout` seconds. */
    CallWorkflow: {
      subject: string | null
      input: unknown
      version: number | null
      timeout: number
    }
    /** Whether the call ended the step, or came before. */
    CalledBack: {
      status: 'accepted' | 'repeated'
    }
    /** `force`: without the clean-up. */
    Cancel: {
      force: boolean
      reason: string | null
    }
    /** Inserts, updates and deletes, applied whole or not at all; or a claim. */
    ChangeTokens: {
      insert: components['schemas']['NewToken'][]
      update: components['schemas']['ChangedToken'][]
      delete: components['schemas']['GoneToken'][]
      reason: string | null
      claim: components['schemas']['Claim'] | null
    }
    /** `version`: the one that it must have now. */
    ChangedToken: {
      name: string
      data: unknown
      owner: string | null
      expires: string | null
      priority: number
      version: number
    }
    /** `budget`: seconds that the proof may take. */
    CheckDraft: {
      budget: number
    }
    /** Tokens under /custom/ that nobody owns, the highest priority first, for `lease` seconds. */
    Claim: {
      owner: string
      prefix: string
      lease: number
      limit: number
    }
    /** The task ended on a port. */
    Complete: {
      lease: string
      port: string
      output: unknown
      tags: Record<string, unknown> | null
      set: Record<string, unknown> | null
      correlate: Record<string, string> | null
    }
    /** A task ended on a port. */
    Completion: {
      port: string
      output: unknown
      tags: Record<string, unknown> | null
      set: Record<string, unknown> | null
      correlate: Record<string, string> | null
    }
    /** A release; `states` are those it has been in, `next_version` is what it has once it is published. */
    DataRelease: {
      kf_id: string
      name: string
      description: string
      state: string
      studies: string[]
      tasks: components['schemas']['ReleaseTask'][]
      notes: string[]
      version: string
      created_at: string
      tags: string[]
      author: string
      is_major: boolean
      partly_published: string[]
      run: string | null
      states: components['schemas']['Since'][]
      next_version: string | null
    }
    /** A release to be made or changed. */
    DataReleaseIn: {
      name: string
      studies: string[]
      description: string
      tags: string[]
      author: string
      is_major: boolean
      services: string[]
    }
    /** A decision, with what the form asks for. */
    Decide: {
      decision: 'approved' | 'rejected'
      fields: Record<string, unknown> | null
      comment: string | null
    }
    /** What an author works on: the definition as JSON and as text, and what the checks say of it. */
    Draft: {
      name: string
      title: string | null
      definition: Record<string, unknown>
      text: string
      etag: string
      changed: boolean
      published_version: number | null
      started: boolean
      paused: boolean
      findings: components['schemas']['Finding'][]
      verdict: 'proved' | 'refuted' | 'undecided'
      updated_at: string | null
      updated_by: string | null
    }
    Elements: {
      total: number
      done: number
      failed: number
    }
    /** One line of a run's history. */
    Entry: {
      seq: number
      at: string
      kind: 'attempt' | 'conflict' | 'correlated' | 'ended' | 'event' | 'fired' | 'paused' | 'repaired' | 'resumed' | 'run_ended' | 'set' | 'withdrawn'
      step: string | null
      event: string | null
      port: string | null
      attempt: number | null
      firing: number | null
      started_at: string | null
      data: unknown
    }
    /** Some items, and the position after them. */
    EntryPage: {
      items: components['schemas']['Entry'][]
      next: string | null
    }
    /** Why a task failed. */
    Error: {
      message: string
      kind: 'child' | 'egress' | 'error' | 'expression' | 'fatal' | 'lost' | 'timeout' | 'too_large' | null
      detail: unknown
    }
    /** `expression` is bare CEL, or with `template` a text with `${ … }` parts; `scope`: the variables it sees. */
    Evaluate: {
      expression: string
      scope: Record<string, unknown>
      template: boolean
    }
    /** The value, or why there is none: `code` and place, and one sentence. */
    Evaluated: {
      value: unknown
      error: string | null
      code: string | null
      line: number | null
      column: number | null
    }
    /** An event for a run. `set` changes the run's data; a second event with the same `id` changes nothing. */
    Event: {
      event: string
      data: unknown
      set: Record<string, unknown> | null
      id: string | null
    }
    /** An event to be recorded or changed. */
    EventIn: {
      event_type: string
      message: string
      release: string | null
      task: string | null
      task_service: string | null
    }
    /** `recorded`: it is in the history of the run, and nothing acts on it. */
    EventTaken: {
      status: 'accepted' | 'duplicate' | 'recorded'
      duplicate: boolean
    }
    /** The task failed. Without `retry` the step's budget decides; false: never again. */
    Fail: {
      lease: string
      error: string | components['schemas']['Error']
      retry: boolean | null
      retry_after: number | null
    }
    FailRun: {
      reason: string | null
    }
    Failure: {
      kind: string
      message: string
      detail: unknown
    }
    /** A task failed. Without `retry` the step's budget decides; false: never again. */
    Fault: {
      error: string | components['schemas']['Error']
      retry: boolean | null
      retry_after: number | null
    }
    /** One thing to know about a definition. `trace` is a run that shows it, `path` the part of the definition, and `args` are what the sentences name. */
    Finding: {
      code: string
      severity: 'error' | 'info' | 'warning'
      step: string | null
      event: string | null
      message: string
      hint: string
      args: Record<string, string | number | (string | string[])[]>
      line: number | null
      trace: (Record<string, string | null>)[]
      column: number | null
      path: string | null
    }
    /** One task for this worker. `id` is the same over all attempts, `lease` goes with everything said of it. */
    Given: {
      id: string
      lease: string
      task: string
      attempt: number
      run: components['schemas']['RunOf']
      step: string
      index: number | null
      params: unknown
      input: Record<string, unknown>
      events: Record<string, unknown>
      data: unknown
      tags: Record<string, unknown>
      timeouts: components['schemas']['Left']
      deadline: string | null
      idempotency_key: string
      task_list: string
      expires: string
    }
    GoneToken: {
      name: string
      version: number
    }
    /** Whether the whole installation is paused. */
    Halted: {
      paused: boolean
    }
    /** `status` is `ok`, or `away`, `locked` or `starting` with the reason. */
    Health: {
      status: string
      detail: string | null
    }
    /** The task runs, and how far it is. */
    Heartbeat: {
      lease: string
      progress: unknown
    }
    /** An address that takes calls; `event` is null where a call starts a run, which it does while it is `started`. */
    HookLine: {
      workflow: string
      title: string | null
      event: string | null
      path: string
      started: boolean
    }
    /** Some items, and the position after them. */
    HookLinePage: {
      items: components['schemas']['HookLine'][]
      next: string | null
    }
    /** A text of another engine; `name` is that of the workflow, and says which where the text has several. */
    Import: {
      kind: 'pinball' | 'viblio' | 'zenko'
      text: string
      name: string | null
    }
    /** The definition, as JSON and as YAML with its notes, and a sentence for each thing that it does not carry. */
    ImportedDefinition: {
      definition: Record<string, unknown>
      text: string
      notes: string[]
    }
    /** One thing said of one task: exactly one of the last five. */
    Item: {
      id: string
      lease: string
      complete: components['schemas']['Completion']
      fail: components['schemas']['Fault']
      release: components['schemas']['Nothing']
      heartbeat: components['schemas']['Sign']
      log: components['schemas']['Written']
    }
    /** Many things at once, by one worker. */
    Items: {
      worker: string
      items: components['schemas']['Item'][]
    }
    /** An event for the run that has one of the keys. */
    KeyedEvent: {
      key: Record<string, string>
      event: string
      data: unknown
      set: Record<string, unknown> | null
      id: string | null
    }
    /** What a store told last. */
    LastEvent: {
      event: string
      key: string
      at: string
    }
    /** A worker goes, or takes no more work. */
    Leaving: {
      worker: string
    }
    /** Seconds that are left of each time-out; null: there is none. */
    Left: {
      heartbeat: number
      start_to_close: number | null
      schedule_to_close: number | null
    }
    /** One line that a task wrote. */
    Line: {
      text: string
      level: 'debug' | 'error' | 'info' | 'warning'
      at: string | null
    }
    /** Lines that the task wrote: texts, or `{text, level, at}`. */
    Log: {
      lease: string
      lines: (string | components['schemas']['Line'])[]
    }
    /** What a task wrote. */
    LogLine: {
      id: number
      at: string
      step: string
      index: number | null
      attempt: number
      level: string
      text: string
    }
    /** Some items, and the position after them. */
    LogLinePage: {
      items: components['schemas']['LogLine'][]
      next: string | null
    }
    /** A new token; `token` is shown this once. */
    Made: {
      id: string
      role: string
      name: string
      workflows: string[] | null
      task_lists: string[] | null
      concurrency: number | null
      expires_at: string | null
      made_by: string
      made_at: string
      used_at: string | null
      revoked_at: string | null
      state: string
      token: string
    }
    /** A token that is wanted. `expires_in` are days. */
    MakeToken: {
      name: string
      role: 'admin' | 'author' | 'operator' | 'viewer' | 'worker'
      expires_in: number | 'never'
      workflows: string[] | null
      task_lists: string[] | null
      concurrency: number | null
    }
    /** Which events wait in which slots, with the data and the tags of the run at that point. */
    Marking: {
      run: string
      seq: number
      slots: Record<string, unknown>[]
      steps: Record<string, Record<string, unknown>>
      data: unknown
      tags: Record<string, unknown>
    }
    /** A word. */
    Message: {
      message: string
    }
    /** One thing that is wrong: `path` points at it in the body, or names the parameter; `line` is of a definition. */
    Misfit: {
      path: string
      code: string
      message: string
      line: number | null
      column: number | null
    }
    NewToken: {
      name: string
      data: unknown
      owner: string | null
      expires: string | null
      priority: number
    }
    /** No more is to be said. */
    Nothing: Record<string, unknown>
    /** A task as a worker offers it, with JSON Schemas: `parameters` of its `with`, `output` of what it gives on `done`. `outputs` are those of its other ports, `sets` that of what it sets on the run's data. */
    Offered: {
      name: string
      title: string
      doc: string
      parameters: Record<string, unknown>
      ports: string[]
      task_list: string | null
      output: Record<string, unknown> | null
      outputs: Record<string, Record<string, unknown>>
      sets: Record<string, unknown> | null
    }
    /** A worker is there, and what it can do. `name` is for people; a worker's id is new at every start. */
    Offers: {
      worker: string
      offers: components['schemas']['Offered'][]
      name: string | null
      task_lists: string[] | null
      concurrency: number
    }
    /** Which services take part this time: the same where none are said, null for all that are enabled. */
    OtherServices: {
      services: string[] | null
    }
    /** Some items, and the position after them. */
    Page: {
      items: Record<string, unknown>[]
      next: string | null
    }
    /** A worker asks for work. `task_list` is short for one of `task_lists`; without `tasks` it takes any. */
    Poll: {
      worker: string
      task_list: string | null
      task_lists: string[] | null
      tasks: string[] | null
      max: number
      wait: number
    }
    /** Work, or none; `now` is the server's time, by which `expires` and `deadline` are meant. */
    Polled: {
      tasks: components['schemas']['Given'][]
      now: string
    }
    /** A schedule that is not saved yet: either `cron` or `every`. */
    PreviewSchedule: {
      cron: string | null
      every: string | number | null
      tz: string | null
      count: number
    }
    /** What every answer that is not good looks like. */
    Problem: {
      type: string
      title: string
      status: number
      code: string
      detail: string
      request_id: string
      errors: components['schemas']['Misfit'][]
      findings: components['schemas']['Finding'][]
      cancel: boolean
      sign_in: string[]
      decision: Record<string, unknown> | null
    }
    /** Whether the run could still end, in a sentence; `starving` are steps that may wait in vain. */
    Prospect: {
      verdict: 'ended' | 'ends' | 'may_stall' | 'stalls' | 'unknown'
      text: string
      starving: Record<string, string[]>
    }
    /** The draft is published, or `definition` (an object, or YAML as text) where it is given. `start`: let the source make runs. `override`: the reason why what the checks refute is published all the same. With `again` false what is the newest version already makes no other. */
    Publish: {
      definition: Record<string, unknown> | string | null
      note: string | null
      start: boolean | null
      override: string | null
      again: boolean
    }
    Published: {
      version: number
      verdict: 'proved' | 'refuted' | 'undecided'
      findings: components['schemas']['Finding'][]
    }
    /** An event to be put into a slot. */
    PutEvent: {
      step: string
      slot: number
      event: string
      data: unknown
    }
    /** The value of a secret: written, never read back. */
    PutSecret: {
      value: string
    }
    /** A task list. */
    Queue: {
      task_list: string
      ready: number
      held: number
      running: number
      oldest: string | null
    }
    /** Some items, and the position after them. */
    QueuePage: {
      items: components['schemas']['Queue'][]
      next: string | null
    }
    /** What became of a call: durable, a repeat, or nothing for this hook. A batch has `items`, some maybe refused. */
    Received: {
      status: number
      run: string | null
      duplicate: boolean
      ignored: boolean
      refused: string | null
      items: components['schemas']['Received'][]
    }
    Redelivered: {
      id: number
      redelivered: boolean
    }
    /** The task was not begun. */
    Release: {
      lease: string
    }
    /** Something that happened to a release or a task. */
    ReleaseEvent: {
      kf_id: string
      event_type: string
      message: string
      release: string | null
      task_service: string | null
      task: string | null
      created_at: string
    }
    /** A release note. */
    ReleaseNote: {
      kf_id: string
      author: string
      description: string
      study: string
      release: string
      created_at: string
    }
    /** A release note to be written or changed. */
    ReleaseNoteIn: {
      description: string
      study: string
      release: string
      author: string
    }
    /** The part of one service in a release; `states` are those it has been in. */
    ReleaseTask: {
      kf_id: string
      state: string
      progress: number
      release: string
      task_service: string
      created_at: string
      service_name: string
      states: components['schemas']['Since'][]
    }
    /** The lease lasts until `expires`, the attempt until `deadline`; `now` is the server's time. */
    Renewed: {
      cancel: boolean
      deadline: string | null
      expires: string
      now: string
    }
    /** `expect`: the `seq` of the marking that was looked at. */
    Repair: {
      put: components['schemas']['PutEvent'][]
      take: components['schemas']['TakeEvent'][]
      expect: number | null
      reason: string | null
      dry_run: boolean
    }
    /** The steps that begin by it; `outlook` where it was only tried. */
    Repaired: {
      seq: number
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      will_fire: string[]
      outlook: components['schemas']['Prospect'] | null
    }
    /** What the checks say: proved, refuted or undecided, and why. `file`: what was checked. */
    Report: {
      file: string
      verdict: 'proved' | 'refuted' | 'undecided'
      findings: components['schemas']['Finding'][]
      states: number
      seconds: number
      covered: string
      assumes: string[]
    }
    /** A new run, with the same input unless another is given; `from`: as the old one was before that step began. */
    Rerun: {
      version: number | null
      input: unknown
      from: string | null
    }
    /** Some of many. */
    Results_DataRelease_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['DataRelease'][]
    }
    /** Some of many. */
    Results_ReleaseEvent_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['ReleaseEvent'][]
    }
    /** Some of many. */
    Results_ReleaseNote_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['ReleaseNote'][]
    }
    /** Some of many. */
    Results_ReleaseTask_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['ReleaseTask'][]
    }
    /** Some of many. */
    Results_Study_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['Study'][]
    }
    /** Some of many. */
    Results_TaskService_: {
      count: number
      next: string | null
      previous: string | null
      results: components['schemas']['TaskService'][]
    }
    /** All that failed, or one step. */
    Retry: {
      step: string | null
    }
    /** Whether a new key is made first. */
    Rotate: {
      make: boolean
    }
    /** How many secrets were sealed anew. */
    Rotated: {
      sealed: number
    }
    /** A run as it is now. */
    Run: {
      id: string
      workflow: string
      version: number
      subject: string | null
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      ending: 'canceled' | 'failed' | 'timed_out' | null
      input: unknown
      data: unknown
      tags: Record<string, unknown>
      result: unknown
      labels: Record<string, string>
      keys: Record<string, string>
      parent: string | null
      rerun_of: string | null
      started_at: string
      ended_at: string | null
      error: components['schemas']['Failure'] | null
      waiting_for: string[]
      starving: components['schemas']['Starving'][]
      set_aside: components['schemas']['SetAside'][]
      steps: Record<string, components['schemas']['StepState']>
    }
    /** Which runs; every part that is given must hold. `label` and `key` are NAME=VALUE; `q` begins the subject, the id or a key; `since` and `until` are of the start. */
    RunFilter: {
      workflow: string | null
      version: number | null
      status: ('canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting')[] | 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      subject: string | null
      parent: string | null
      label: string | null
      key: string | null
      step: string | null
      waiting_for: string | null
      waiting_since: string | null
      since: string | null
      until: string | null
      q: string | null
    }
    /** A run in a list. */
    RunLine: {
      id: string
      workflow: string
      version: number
      subject: string | null
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      labels: Record<string, string>
      parent: string | null
      waiting_for: string[]
      started_at: string
      ended_at: string | null
    }
    /** Some items, and the position after them. */
    RunLinePage: {
      items: components['schemas']['RunLine'][]
      next: string | null
    }
    /** The run of a task. */
    RunOf: {
      id: string
      workflow: string
      version: number
      subject: string | null
    }
    /** What became of it. */
    Said: {
      status: string
      message: string
    }
    /** A filter of the list of runs, as the parameters of its address. */
    SaveView: {
      filter: Record<string, string>
      title: string | null
    }
    /** A workflow that a clock starts: when it comes next, how far it is, and what is wrong. `state` is started, stopped, paused, waiting (`waiting` is the tick that waits for room) or failing. */
    ScheduleLine: {
      workflow: string
      version: number
      kind: string
      schedule: string
      cron: string | null
      every: string | null
      tz: string
      overrun: string | null
      catch_up: string | null
      max_running: number | null
      state: string
      next: string[]
      last_tick: string | null
      last_run: string | null
      waiting: string | null
      skipped: number
      progress: unknown
      error: string | null
      error_at: string | null
      backfill: components['schemas']['BackfillState'] | null
    }
    /** Some items, and the position after them. */
    ScheduleLinePage: {
      items: components['schemas']['ScheduleLine'][]
      next: string | null
    }
    /** A secret as people see it: that it is there. */
    SecretView: {
      name: string
      version: number
      updated_at: string
      key: string
    }
    /** Some items, and the position after them. */
    SecretViewPage: {
      items: components['schemas']['SecretView'][]
      next: string | null
    }
    SetAside: {
      step: string
      event: string
      reason: string
    }
    /** True: the step ends on `done` at once; a port: on that; false: it works again. */
    SetStep: {
      disabled: boolean | string
    }
    /** A setting that is in force, and who says so. */
    SettingSeen: {
      name: string
      value: unknown
      origin: string
    }
    /** What this server is told, and what it is. */
    Settings: {
      version: string
      open: boolean
      paused: boolean
      store: Record<string, unknown>
      settings: components['schemas']['SettingSeen'][]
    }
    /** The task runs, and how far it is. */
    Sign: {
      progress: unknown
    }
    /** Somebody with a token who wants a session. */
    SignIn: {
      token: string
    }
    /** A state, and when it began. */
    Since: {
      state: string
      at: string
    }
    SkipStep: {
      port: string
      output: unknown
      reason: string | null
    }
    /** Something that is fed. `what` is source, external (then `event` says which) or backfill. `state` is fed, idle or failing; `failures` counts those in a row, and `hint` says what to do about them. */
    SourceLine: {
      workflow: string
      what: string
      event: string | null
      kind: string
      state: string
      node: string | null
      progress: unknown
      error: string | null
      error_at: string | null
      failures: number
      hint: string | null
    }
    /** Some items, and the position after them. */
    SourceLinePage: {
      items: components['schemas']['SourceLine'][]
      next: string | null
    }
    /** A run to be started. */
    StartRun: {
      subject: string | null
      input: unknown
      idempotency_key: string | null
      labels: Record<string, string> | null
      version: number | null
    }
    /** The run; `duplicate`: it was there already, by its idempotency key. */
    Started: {
      id: string
      workflow: string
      version: number
      subject: string | null
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      ending: 'canceled' | 'failed' | 'timed_out' | null
      input: unknown
      data: unknown
      tags: Record<string, unknown>
      result: unknown
      labels: Record<string, string>
      keys: Record<string, string>
      parent: string | null
      rerun_of: string | null
      started_at: string
      ended_at: string | null
      error: components['schemas']['Failure'] | null
      waiting_for: string[]
      starving: components['schemas']['Starving'][]
      set_aside: components['schemas']['SetAside'][]
      steps: Record<string, components['schemas']['StepState']>
      duplicate: boolean
    }
    Starving: {
      step: string
      missing: string[]
    }
    /** A step in a run: that of its latest firing. */
    StepState: {
      status: 'blocked' | 'canceled' | 'complete' | 'disabled' | 'failed' | 'ready' | 'running'
      reason: string | null
      firings: number
      attempts: number
      port: string | null
      output: unknown
      error: components['schemas']['Failure'] | null
      elements: components['schemas']['Elements'] | null
    }
    /** An object store; `counts` and `last_event` are of this process, since it began. */
    StoreSeen: {
      name: string
      kind: string
      bucket: string
      reachable: boolean
      last_event: components['schemas']['LastEvent'] | null
      counts: Record<string, number>
      error: string | null
      searches: Record<string, unknown>[]
    }
    /** Some items, and the position after them. */
    StoreSeenPage: {
      items: components['schemas']['StoreSeen'][]
      next: string | null
    }
    /** A failure; with `retry` the step's own retries count. */
    StubError: {
      message: string
      retry: boolean
    }
    /** A study. */
    Study: {
      kf_id: string
      name: string
      visible: boolean
      deleted: boolean
      version: string | null
      last_pub_version: string | null
      last_pub_date: string | null
      created_at: string
      by_hand: boolean
    }
    /** A study to be added by hand. */
    StudyIn: {
      kf_id: string
      name: string
    }
    /** How many studies came and went. */
    Synced: {
      status: string
      message: string
      new: number
      deleted: number
    }
    /** An event to be taken out of a slot, by its number in the marking. */
    TakeEvent: {
      step: string
      slot: number
      number: number
    }
    /** One task of the palette; `seen_at` is when a worker that does it was last there, `workers` are those now. */
    TaskOffer: {
      name: string
      kind: 'built-in' | 'task'
      title: string
      doc: string
      parameters: Record<string, unknown>
      ports: string[]
      task_list: string | null
      output: Record<string, unknown> | null
      outputs: Record<string, Record<string, unknown>>
      sets: Record<string, unknown> | null
      workers: string[]
      seen_at: string | null
    }
    /** Some items, and the position after them. */
    TaskOfferPage: {
      items: components['schemas']['TaskOffer'][]
      next: string | null
    }
    /** What a task service says of its task. */
    TaskReport: {
      state: string
      progress: number | string | null
    }
    /** A task service. */
    TaskService: {
      kf_id: string
      name: string
      description: string
      last_ok_status: number
      author: string
      health_status: string
      url: string
      created_at: string
      enabled: boolean
    }
    /** A task service to be registered or changed. */
    TaskServiceIn: {
      name: string
      description: string
      author: string
      url: string
      enabled: boolean
    }
    /** It was taken, and is durable. */
    TaskTaken: {
      status: 'taken'
    }
    /** A schedule in words, and its next ticks. */
    Ticks: {
      schedule: string
      tz: string
      next: string[]
    }
    Token: {
      name: string
      version: number
      owner: string | null
      expires: string | null
      priority: number
      data: unknown
    }
    /** Some items, and the position after them. */
    TokenPage: {
      items: components['schemas']['Token'][]
      next: string | null
    }
    /** A token as people see it: never what it is made of. */
    TokenView: {
      id: string
      role: string
      name: string
      workflows: string[] | null
      task_lists: string[] | null
      concurrency: number | null
      expires_at: string | null
      made_by: string
      made_at: string
      used_at: string | null
      revoked_at: string | null
      state: string
    }
    /** Some items, and the position after them. */
    TokenViewPage: {
      items: components['schemas']['TokenView'][]
      next: string | null
    }
    /** The tokens that were written or claimed; for those of a run the steps that begin by it. */
    TokensChanged: {
      items: components['schemas']['Token'][]
      will_fire: string[]
    }
    /** The run as it came to rest, or was `stopped`: where it should, after its time, or because it is too long. `absent`: steps that should do their work, but this server has no task for them; they ended as stubs. */
    Tried: {
      run: components['schemas']['Run']
      history: components['schemas']['Entry'][]
      stopped: 'long' | 'time' | 'until' | null
      absent: string[]
    }
    /** A run in memory of `definition`, or of the draft. A step without a stub ends on `done` with null. `stubs`: step → what it comes to, or one such a try. `until`: the step after which to stop, or {before: step}, {after: step}. `from`: what leads to that step ends at once. `real`: steps without a stub do their work with the tasks of this server, all of them or those that are named; what they do outside is done. */
    Try: {
      definition: Record<string, unknown> | string | null
      input: unknown
      subject: string | null
      stubs: Record<string, components['schemas']['TryStub'][] | components['schemas']['TryStub']>
      events: components['schemas']['TryEvent'][]
      until: string | Record<string, string> | null
      from: string | null
      real: boolean | string[]
    }
    /** An outside event that comes right after the start. */
    TryEvent: {
      event: string
      data: unknown
    }
    /** What a step comes to: its port and output, or an error. */
    TryStub: {
      port: string | null
      output: unknown
      tags: Record<string, unknown> | null
      set: Record<string, unknown> | null
      error: string | components['schemas']['StubError'] | null
    }
    /** An event that no run has taken, and why. */
    Undelivered: {
      id: number
      event: string
      key: Record<string, string>
      data: unknown
      set: Record<string, unknown> | null
      event_id: string | null
      at: string
      until: string
      reason: string
    }
    /** Some items, and the position after them. */
    UndeliveredPage: {
      items: components['schemas']['Undelivered'][]
      next: string | null
    }
    /** Whether the record is whole; `problem` is the first thing that is wrong. */
    Verified: {
      whole: boolean
      problem: string | null
    }
    /** A published definition, as JSON and as it was written. */
    Version: {
      name: string
      version: number
      definition: Record<string, unknown>
      text: string
      note: string | null
      at: string
    }
    VersionLine: {
      version: number
      note: string | null
      at: string
    }
    /** Some items, and the position after them. */
    VersionLinePage: {
      items: components['schemas']['VersionLine'][]
      next: string | null
    }
    View: {
      name: string
      title: string | null
      filter: Record<string, string>
    }
    /** Some items, and the position after them. */
    ViewPage: {
      items: components['schemas']['View'][]
      next: string | null
    }
    /** Who asks, and what they may do to `workflows` (null: all). `signed_in` false: nobody needs to, here. */
    Who: {
      name: string
      role: 'admin' | 'author' | 'operator' | 'viewer' | 'worker'
      may: ('admin' | 'author' | 'operate' | 'public' | 'read' | 'repair' | 'work')[]
      workflows: string[] | null
      signed_in: boolean
      sign_in: ('oidc' | 'token')[]
    }
    /** Why a run does not go on: `text` in a sentence, and a reason for each step that has one. */
    Why: {
      run: string
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      waiting_for: string[]
      text: string
      steps: Record<string, unknown>[]
      refused_keys: Record<string, unknown>[]
    }
    /** A worker that is there. */
    WorkerSeen: {
      id: string
      name: string
      task_lists: string[]
      tasks: string[]
      concurrency: number
      started_at: string
      seen_at: string | null
    }
    /** Some items, and the position after them. */
    WorkerSeenPage: {
      items: components['schemas']['WorkerSeen'][]
      next: string | null
    }
    /** A workflow in a list. `changed`: its draft is not what is published. `runs`: how many, by status. */
    WorkflowLine: {
      name: string
      title: string | null
      published_version: number | null
      started: boolean
      paused: boolean
      changed: boolean
      updated_at: string
      updated_by: string | null
      runs: Record<string, number>
    }
    /** Some items, and the position after them. */
    WorkflowLinePage: {
      items: components['schemas']['WorkflowLine'][]
      next: string | null
    }
    /** A published workflow: whether its source makes runs, and whether it is held. */
    WorkflowState: {
      name: string
      published_version: number
      started: boolean
      paused: boolean
    }
    /** What the task wrote. */
    Written: {
      lines: (string | components['schemas']['Line'])[]
    }
    /** What came of it. */
    "penstock.api.wire.runs.Called": {
      status: 'canceled' | 'failed' | 'paused' | 'running' | 'stalled' | 'succeeded' | 'timed_out' | 'waiting'
      result: unknown
      data: unknown
      tags: Record<string, unknown>
      steps: Record<string, components['schemas']['StepState']>
      error: components['schemas']['Failure'] | null
    }
    /** Whether there was something to cancel. */
    "penstock.api.wire.schedules.Called": {
      canceled: boolean
    }
    /** How one item was taken: 200, or the status, code and sentence that it alone would have been answered with. */
    "penstock.remote.wire.Told": {
      id: string
      status: number
      code: string | null
      detail: string | null
      cancel: boolean | null
      deadline: string | null
      expires: string | null
    }
    /** What became of a notification: how many runs it started, how many it had started before, what is for nobody. */
    "penstock.sources.object_hooks.Told": {
      started: number
      duplicate: number
      ignored: number
      refused: number
    }
  }
}
