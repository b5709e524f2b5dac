import type { RelayedCapability } from './dialogue.ts';
import type { HeaderValues } from './upstream.ts';
import type { Challenge } from './upstreamError.ts';

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
  /** PEM file of the authority that signed the server's certificate, in place of the public ones. */
  readonly caFile?: string | undefined;
  /** A token of one user. It owns the `authorization` header. */
  readonly bearer?: Bearer | undefined;
}

/** A token that is good only together with a proof that we hold its key (RFC 9449). It is never sent as a bearer token. */
export interface DpopToken {
  readonly text: string;
  /** For one request with this token. */
  createProof(method: string, url: string): string;
  /** What an answer said in `DPoP-Nonce`. True: it is another one than stood in the proof that was sent. */
  recordNonce(url: string, nonce: string | undefined, sent: string): boolean;
}

/** What is presented at a server: a bearer token as its text, or one that is bound to a key. */
export type WireToken = string | DpopToken;

/** One user's token for one server, asked for anew for every HTTP request; who asks keeps no answer. */
export interface Bearer {
  /** The MCP extension by which it is had: the server is told that we know it. */
  readonly extension?: string | undefined;
  /** At once while one is at hand. Rejects when none is to be had: then nothing is sent. */
  token(): WireToken | Promise<WireToken>;
  /** The server refused the last one. True: another is at hand, and the request may be sent once more. */
  renew(challenge: Challenge | undefined): Promise<boolean>;
  /** Whether another one was already tried in this call because the server refused one. */
  hasRenewed(): boolean;
  /** Whether its user has signed in anew since: that token is for another connection, to be prepared anew. */
  isSuperseded?(): boolean;
  /** What was shown in this call, so that it can be taken out of the server's own words. */
  presentedTokens(): readonly string[];
  /** The server wants a wider scope: what its user has to do about it; undefined when nothing they could do would help. */
  toScopeError?(challenge: Challenge | undefined): Error | undefined;
}

export const ownedByApp: unique symbol = Symbol('owned by the app');

/** A token of ours for a server that everybody shares. What is a user's lacks the mark, and no shared connection takes it. */
export interface AppBearer extends Bearer {
  readonly [ownedByApp]: true;
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

/** Of a connection that everybody shares: there is no place in it for a user's token. */
export type SharedTarget = StdioTarget | (RemoteTarget & { readonly bearer?: AppBearer });

/** What opening a conversation needs to know besides. */
export interface OpenOptions {
  /** For the log and for the limits on child processes. */
  readonly server: string;
  /** Whose child process this is; undefined for one that everybody shares. */
  readonly owner: string | undefined;
  readonly era: 'auto' | 'modern' | 'legacy';
  readonly initTimeoutMs: number;
  /** What the server may ask of a caller besides forms. */
  readonly relay?: readonly RelayedCapability[] | undefined;
  /** Aborts when nobody will use it. */
  readonly signal: AbortSignal;
}
