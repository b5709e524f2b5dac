import type { RelayedCapability } from './dialogue.ts';
import type { HeaderValues } from './upstream.ts';
import type { Challenge } from './upstreamError.ts';

/** A server on the network, with all placeholders filled in. */
export interface RemoteTarget {
  readonly type: 'streamable-http' | 'sse' | 'websocket';
  readonly url: string;
  /** Configured headers including the credential. Names in lower case. */
  readonly headers: HeaderValues;
  /** Whether the operator or a user chose the address. The SSRF guard depends on it. */
  readonly audience: 'yaml-server' | 'user-server';
  readonly proxy: string | undefined;
  readonly sseReadTimeoutMs: number;
  /** PEM file of the certificate authority of the server. It replaces the public authorities. */
  readonly caFile?: string | undefined;
  /** A user's token. It replaces the `authorization` header. */
  readonly bearer?: Bearer | undefined;
}

/** A sender-constrained token (DPoP, RFC 9449). It is never sent without a proof of possession. */
export interface DpopToken {
  readonly text: string;
  /** Creates the proof for one request. */
  createProof(method: string, url: string): string;
  /** Stores the `DPoP-Nonce` of a response. Returns true if the nonce differs from the one in the sent proof. */
  recordNonce(url: string, nonce: string | undefined, sent: string): boolean;
}

/** A bearer token as text, or a sender-constrained token. */
export type WireToken = string | DpopToken;

/** Source of one user's token for one server. Queried for every HTTP request; callers never keep the token. */
export interface Bearer {
  /** The MCP extension that issues the token. It is declared to the server. */
  readonly extension?: string | undefined;
  /** Returns synchronously if a valid token is cached. Rejects if there is none; then no request is sent. */
  token(): WireToken | Promise<WireToken>;
  /** Called after the server rejected the last token. True: a new token is available and the request may be retried. */
  renew(challenge: Challenge | undefined): Promise<boolean>;
  /** Whether a token was renewed in this call after a rejection. */
  hasRenewed(): boolean;
  /** Whether the user signed in again since. The new token belongs to a connection that must be prepared again. */
  isSuperseded?(): boolean;
  /** Tokens presented in this call, so that they can be masked in the server's responses. */
  presentedTokens(): readonly string[];
  /** The error if the server requires a wider scope. Undefined if the user can do nothing about it. */
  toScopeError?(challenge: Challenge | undefined): Error | undefined;
}

export const ownedByApp: unique symbol = Symbol('owned by the app');

/** Behalf's own token for a shared server. Tokens of users lack the mark, so they do not fit a shared connection. */
export interface AppBearer extends Bearer {
  readonly [ownedByApp]: true;
}

/** A server that runs as a child process, with all placeholders filled in. */
export interface StdioTarget {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the child. Nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** `pipe`: lines go to the log. A number is a file descriptor. */
  readonly stderr: 'pipe' | 'ignore' | 'inherit' | number;
}

export type UpstreamTarget = RemoteTarget | StdioTarget;

/** Target of a connection that all users share. The type excludes tokens of users. */
export type SharedTarget = StdioTarget | (RemoteTarget & { readonly bearer?: AppBearer });

export interface OpenOptions {
  /** Server name, for the log and the limits on child processes. */
  readonly server: string;
  /** The user that owns the connection. Undefined for shared connections. */
  readonly owner: string | undefined;
  readonly era: 'auto' | 'modern' | 'legacy';
  readonly initTimeoutMs: number;
  /** Requests of the server besides forms that may be forwarded to callers. */
  readonly relay?: readonly RelayedCapability[] | undefined;
  readonly signal: AbortSignal;
}
