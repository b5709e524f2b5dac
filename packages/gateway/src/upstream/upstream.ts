import type { Duplex } from 'node:stream';
import type { Cancellation, Clock, Fetch, Random, Send } from '@behalf/kernel';
import type { Dialogue } from './dialogue.ts';
import type { Bearer, RemoteTarget } from './target.ts';
import type { ReadNetworkError } from './upstreamError.ts';

/** `modern`: 2026-07-28, stateless. `legacy`: up to 2025-11-25, with a session. */
export type Era = 'legacy' | 'modern';

/** A JSON object of the protocol. What is inside was chosen by the server: read it with care. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Header names in lower case. */
export type HeaderValues = Readonly<Record<string, string>>;

/** What a server says of itself when a conversation opens. Not to be trusted: it may claim anything. */
export interface ServerClaims {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
}

export interface UpstreamRequestOptions {
  /** Aborts when nobody waits any more. The server is told, and the caller gets the signal's reason. */
  readonly signal: Cancellation;
  /** This caller's credential on this server. Over HTTP alone: a child process got its values when it started. */
  readonly headers?: HeaderValues;
  /** The caller's token, where the server is sent one of each user. It is asked for when the request is sent. */
  readonly bearer?: Bearer;
  /** The longest silence: progress starts it anew. */
  readonly timeoutMs: number;
  /** The longest time altogether, whatever progress says. */
  readonly totalMs: number;
  readonly onProgress?: (params: JsonObject) => void;
  /** A log message of the server that belongs to this very request. */
  readonly onLog?: (params: JsonObject) => void;
  /** From which level on; a legacy session is set to the most verbose one that anybody wants. */
  readonly logLevel?: string;
  /** Who can be asked while this request is under way. Absent: nobody. */
  readonly dialogue?: Dialogue;
  /** W3C trace context and whatever else the caller adds to `_meta`. */
  readonly meta?: JsonObject;
  /** Headers of this request alone: `traceparent`, our hop count, `mcp-param-*`. Never a credential. */
  readonly extraHeaders?: HeaderValues;
}

/** The result of a request as the server sent it. */
export interface UpstreamResponse {
  readonly kind: 'result';
  readonly result: JsonObject;
  /** The JSON text of `result`, if it can be forwarded without serializing it again. */
  readonly json: string | undefined;
}

/** All that it takes to ask after a task later, in whichever process. */
export interface StartedTask {
  readonly server: string;
  readonly serverId: string;
  /** Where that led when it began: a server may be led elsewhere and stay the same one. */
  readonly targetFingerprint: string;
  readonly tool: string;
  /** As the server calls it. */
  readonly id: string;
  /** Which of the caller's own credentials it was begun with, by its label, where it was one of several. */
  readonly credential?: string;
  /** How long the server keeps it, as it says now; null: for ever. */
  readonly ttlMs: number | null;
}

export interface ServerNotification {
  readonly method: string;
  readonly params: JsonObject;
}

export type ListKind = 'tools' | 'prompts' | 'resources';

export interface ListenOptions {
  readonly headers?: HeaderValues;
  readonly bearer?: Bearer;
  /** Resources whose updates are heard. A modern server is told here; a legacy one by `resources/subscribe`. */
  readonly resources?: readonly string[];
  /** The server has forgotten a legacy session, and with it what was subscribed there. */
  readonly onSessionRenewed?: () => void;
  /** Of which lists changes are heard from now on: those that the server announces, while a stream is open. */
  readonly onSubscribedLists?: (lists: readonly ListKind[]) => void;
}

/**
 * A conversation with one MCP server. Failures are `UpstreamError`, or the reason of the caller's own signal. A modern
 * one holds nothing of any user: every request brings its credential.
 */
export interface Upstream {
  readonly claims: ServerClaims;
  /** Every method goes this one way: tools, resources, prompts, ping. */
  request(method: string, params: JsonObject, options: UpstreamRequestOptions): Promise<UpstreamResponse>;
  /**
   * Notices that belong to nobody's request (`list_changed`). A stream is kept open only while somebody listens; a
   * server that offers none is no error. Returns how to stop.
   */
  listen(listener: (notification: ServerNotification) => void, options: ListenOptions): () => void;
  /** Runs once, when the conversation ends for whatever reason; at once when it has ended. */
  onClose(listener: () => void): void;
  /** Idempotent. Ends the session at the server (DELETE, at most 5 s) or the child process. */
  close(): Promise<void>;
}

/** The door out, as this folder needs it. Every request and every socket passes the guard for the target's audience. */
export interface Network {
  sendTo(target: RemoteTarget): Send;
  fetchTo(target: RemoteTarget): Fetch;
  connectTo(target: RemoteTarget, signal: AbortSignal): Promise<Duplex>;
  readError: ReadNetworkError;
}

/** What the operator should read. Never a value of a header, an argument or an answer. */
export type Log = (event: string, fields: Readonly<Record<string, string | number | boolean>>) => void;

export interface UpstreamParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Our own version, as told to servers. */
  readonly version: string;
  readonly network: Network;
  readonly log: Log;
  /** A line that a child process wrote to stderr. */
  readonly onStderr: (server: string, line: string) => void;
  /** `process.kill`; a negative id names a group. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
}

/** The extension by which a server answers a call with a task, to be asked after later. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** As a client declares it with a request, and as a server advertises it. */
export const tasksCapability: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } };

export type TaskMethod = 'tasks/get' | 'tasks/update' | 'tasks/cancel';

const taskMethods: ReadonlySet<string> = new Set<TaskMethod>(['tasks/get', 'tasks/update', 'tasks/cancel']);

export function isTaskMethod(method: string): boolean {
  return taskMethods.has(method);
}

/** Whether these capabilities name it, of whichever side. */
export function hasTasksCapability({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
