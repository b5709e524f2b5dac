import type { Fetch } from '@behalf/kernel';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { IssuerSettings } from './issuerSettings.ts';
import type { SignInTarget } from './signInTarget.ts';
import { listConfiguredOrigins } from './configuredOrigins.ts';

/**
 * The door out, as sign-ins need it. Origins in `vouched` are judged on the word that the server's own address rests on; every
 * other one as if a user had named it, because a server that is asked chooses what it answers.
 */
export interface OAuthEgress {
  /** `redirect` of a request is honoured; nothing else leads anywhere else. */
  fetchFor(server: ServerSnapshot, configuredOrigins: readonly string[]): Fetch;
  /** Rejects unless the server may name this address: a browser is sent there, and no request of ours. */
  checkUrl(server: ServerSnapshot, url: string, configuredOrigins: readonly string[]): Promise<void>;
  readError: ReadNetworkError;
}

/** The same for one server and one authorization server of it. */
export interface OAuthNetwork {
  /** `issuer`: whose endpoints are asked; null: the server alone. */
  fetchFor(target: SignInTarget, issuer: string | null): Fetch;
  checkUrl(target: SignInTarget, issuer: string, url: string): Promise<void>;
  /** Whether the operator's word opens the way to this issuer for this server. */
  isConfigured(target: SignInTarget, issuer: string): boolean;
  readError: ReadNetworkError;
}

export function createOAuthNetwork(egress: OAuthEgress, issuerSettings: () => IssuerSettings): OAuthNetwork {
  const originsFor = (target: SignInTarget, issuer: string | null) =>
    listConfiguredOrigins(target, issuerSettings(), issuer);
  return {
    fetchFor: (target, issuer) => egress.fetchFor(target.server, originsFor(target, issuer)),
    checkUrl: (target, issuer, url) => egress.checkUrl(target.server, url, originsFor(target, issuer)),
    isConfigured: (target, issuer) => originsFor(target, issuer).includes(new URL(issuer).origin),
    readError: egress.readError,
  };
}
