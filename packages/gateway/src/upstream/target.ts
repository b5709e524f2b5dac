import type { HeaderValues } from './upstream.ts';

/** A server reached over the network, every placeholder filled in. */
export interface RemoteTarget {
  readonly type: 'streamable-http' | 'sse' | 'websocket';
  readonly url: string;
  /** Configured headers and the credential, together. Names in lower case. */
  readonly headers: HeaderValues;
  /** Whose word the address rests on: the operator's, or a user's. */
  readonly audience: 'yaml-server' | 'user-server';
  readonly proxy: string | undefined;
  readonly sseReadTimeoutMs: number;
}

/** A server that runs as a child process, every placeholder filled in. */
export interface StdioTarget {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly stderr: 'pipe' | 'ignore' | 'inherit' | number;
}

/** Where a conversation leads and what it presents there. */
export type UpstreamTarget = RemoteTarget | StdioTarget;

/** What opening a conversation needs to know besides. */
export interface OpenOptions {
  /** For the log and for the limits on child processes. */
  readonly server: string;
  /** Whose child process this is; undefined for one that everybody shares. */
  readonly owner: string | undefined;
  readonly era: 'auto' | 'modern' | 'legacy';
  readonly initTimeoutMs: number;
  /** Aborts when nobody will use it. */
  readonly signal: AbortSignal;
}
