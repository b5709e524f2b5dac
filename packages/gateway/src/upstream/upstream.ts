import type { Duplex } from 'node:stream';
import { type Cancellation, type Clock, type Fetch, type Random, type Send, isObject } from '@behalf/kernel';
import type { Dialogue } from './dialogue.ts';
import type { Bearer, RemoteTarget } from './target.ts';
import type { ReadNetworkError } from './upstreamError.ts';

/** `modern`: the stateless revision 2026-07-28. `legacy`: revisions up to 2025-11-25, with sessions. */
export type Era = 'legacy' | 'modern';

/** A JSON object of the protocol. Its content comes from the server and is not validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Header names in lower case. */
export type HeaderValues = Readonly<Record<string, string>>;

/** Self-description of a server in the handshake. Untrusted. */
export interface ServerClaims {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
}

export interface UpstreamRequestOptions {
  /** On abort the request is canceled at the server, and the caller receives the abort reason. */
  readonly signal: Cancellation;
  /** The caller's credential for this server. HTTP only: a child process receives its values at start. */
  readonly headers?: HeaderValues;
  /** The caller's token, for servers that receive a token per user. Obtained when the request is sent. */
  readonly bearer?: Bearer;
  /** Maximum time without a sign of the server. Progress notifications restart it. */
  readonly timeoutMs: number;
  /** Maximum total time. */
  readonly totalMs: number;
  readonly onProgress?: (params: JsonObject) => void;
  /** Receives log messages of the server that belong to this request. */
  readonly onLog?: (params: JsonObject) => void;
  /** Minimum level of log messages. A legacy session uses the most verbose level of its current requests. */
  readonly logLevel?: string;
  /** Answers requests of the server during this request. Without it they are declined. */
  readonly dialogue?: Dialogue;
  /** Additional `_meta` members, for example W3C trace context. */
  readonly meta?: JsonObject;
  /** Headers of this request only: `traceparent`, hop count, `mcp-param-*`. Never a credential. */
  readonly extraHeaders?: HeaderValues;
}

/** The result of a request as the server sent it. */
export interface UpstreamResponse {
  readonly kind: 'result';
  readonly result: JsonObject;
  /** The JSON text of `result`, if it can be forwarded without serializing it again. */
  readonly json: string | undefined;
}

/** Everything needed to query a task later, from any replica. */
export interface StartedTask {
  readonly server: string;
  readonly serverId: string;
  /** Fingerprint of the target at start. A definition can later point to another target. */
  readonly targetFingerprint: string;
  readonly tool: string;
  /** The task id of the server. */
  readonly id: string;
  /** Label of the credential that started the task, if the caller has several. */
  readonly credential?: string;
  /** How long the server keeps the task. Null: without limit. */
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
  /** Resources whose updates are delivered. A legacy server also needs `resources/subscribe`. */
  readonly resources?: readonly string[];
  /** Called when a legacy session was replaced. The subscriptions of the old session are lost. */
  readonly onSessionRenewed?: () => void;
  /** Receives the lists whose changes are delivered now. Empty while no stream is open. */
  readonly onSubscribedLists?: (lists: readonly ListKind[]) => void;
}

/**
 * A client of one MCP server. Methods fail with `UpstreamError`, with the error of a bearer, or with the abort reason of
 * the caller. A modern upstream keeps no user data: every request presents its own credential.
 */
export interface Upstream {
  readonly claims: ServerClaims;
  /** Sends any method: tools, resources, prompts, tasks, ping. */
  request(method: string, params: JsonObject, options: UpstreamRequestOptions): Promise<UpstreamResponse>;
  /**
   * Delivers notifications that belong to no request, such as `list_changed`. A stream is open only while it has
   * listeners; a server without one is not an error. Returns a function that removes the listener.
   */
  listen(listener: (notification: ServerNotification) => void, options: ListenOptions): () => void;
  /** Calls the listener once when the upstream closes, at once if it has closed already. */
  onClose(listener: () => void): void;
  /** Idempotent. Ends the session (DELETE, at most 5 s) or the child process. */
  close(): Promise<void>;
}

/** Guarded network access, supplied by egress. The SSRF guard checks every request for the audience of the target. */
export interface Network {
  sendTo(target: RemoteTarget): Send;
  fetchTo(target: RemoteTarget): Fetch;
  connectTo(target: RemoteTarget, signal: AbortSignal): Promise<Duplex>;
  readError: ReadNetworkError;
}

/** Operator log. Fields never contain values of headers, arguments or results. */
export type Log = (event: string, fields: Readonly<Record<string, string | number | boolean>>) => void;

export interface UpstreamParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Version of Behalf, sent to servers. */
  readonly version: string;
  readonly network: Network;
  readonly log: Log;
  /** Receives lines that a child process wrote to stderr. */
  readonly onStderr: (server: string, line: string) => void;
  /** `process.kill`. A negative pid addresses a process group. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
}

/** With this extension a server may start a task instead of returning the result of a call. */
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Capability object for the tasks extension, the same for clients and servers. */
export const tasksCapability: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } };

export type TaskMethod = 'tasks/get' | 'tasks/update' | 'tasks/cancel';

const taskMethods: ReadonlySet<string> = new Set<TaskMethod>(['tasks/get', 'tasks/update', 'tasks/cancel']);

export function isTaskMethod(method: string): boolean {
  return taskMethods.has(method);
}

export function hasTasksCapability({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}
