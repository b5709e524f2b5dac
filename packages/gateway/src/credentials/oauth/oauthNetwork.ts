import type { Fetch } from '@behalf/kernel';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { IssuerBook } from './issuerBook.ts';
import type { SignInTarget } from './signInTarget.ts';
import { vouchedOrigins } from './vouchedOrigins.ts';

/**
 * The door out, as sign-ins need it. Origins in `vouched` are judged on the word that the server's own address rests on; every
 * other one as if a user had named it, because a server that is asked chooses what it answers.
 */
export interface OAuthDoor {
  /** `redirect` of a request is honoured; nothing else leads anywhere else. */
  fetchFor(server: ServerSnapshot, vouched: readonly string[]): Fetch;
  /** Rejects unless the server may name this address: a browser is sent there, and no request of ours. */
  judge(server: ServerSnapshot, url: string, vouched: readonly string[]): Promise<void>;
  readError: ReadNetworkError;
}

/** The same for one server and one authorization server of it. */
export interface OAuthNetwork {
  /** `issuer`: whose endpoints are asked; null: the server alone. */
  fetchFor(target: SignInTarget, issuer: string | null): Fetch;
  judge(target: SignInTarget, issuer: string, url: string): Promise<void>;
  /** Whether the operator's word opens the way to this issuer for this server. */
  isVouched(target: SignInTarget, issuer: string): boolean;
  readError: ReadNetworkError;
}

export function createOAuthNetwork(door: OAuthDoor, book: () => IssuerBook): OAuthNetwork {
  const vouched = (target: SignInTarget, issuer: string | null) => vouchedOrigins(target, book(), issuer);
  return {
    fetchFor: (target, issuer) => door.fetchFor(target.server, vouched(target, issuer)),
    judge: (target, issuer, url) => door.judge(target.server, url, vouched(target, issuer)),
    isVouched: (target, issuer) => vouched(target, issuer).includes(new URL(issuer).origin),
    readError: door.readError,
  };
}
