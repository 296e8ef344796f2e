/** The shapes of what the server sends, by the names that the API gives them. */
import type { components } from './schema'

type Schemas = components['schemas']

export type Run = Schemas['Run']
export type RunLine = Schemas['RunLine']
export type Entry = Schemas['Entry']
export type Why = Schemas['Why']
export type Marking = Schemas['Marking']
export type Who = Schemas['Who']
export type StepState = Schemas['StepState']
export type Report = Schemas['Report']
export type Finding = Schemas['Finding']
export type Draft = Schemas['Draft']
export type Queue = Schemas['Queue']
export type Ticks = Schemas['Ticks']
export type WorkerSeen = Schemas['WorkerSeen']
export type RunStatus = Run['status']
export type StepStatus = StepState['status']

export interface Page<T> {
  items: T[]
  next: string | null
}

export type WorkflowLine = Schemas['WorkflowLine']
export type WorkflowState = Schemas['WorkflowState']
export type VersionLine = Schemas['VersionLine']
export type Version = Schemas['Version']
export type Published = Schemas['Published']
export type Tried = Schemas['Tried']
export type TaskOffer = Schemas['TaskOffer']
export type Undelivered = Schemas['Undelivered']
export type View = Schemas['View']
export type TokenView = Schemas['TokenView']
export type AuditEntry = Schemas['AuditEntry']
export type SecretView = Schemas['SecretView']
export type Settings = Schemas['Settings']
export type LogLine = Schemas['LogLine']
export type Repaired = Schemas['Repaired']
export type Bulk = Schemas['Bulk']
export type BulkDone = Schemas['BulkDone']
export type EventTaken = Schemas['EventTaken']
export type Severity = Finding['severity']
export type HookLine = Schemas['HookLine']
export type Source = Schemas['SourceLine']
