import {
  type KnownLogin,
  type OboAuthority,
  type OboProblem,
  type ProviderSettings,
  type ServerSettings,
  checkOboTarget,
} from '@behalf/settings';
import type { SecurityDecision, ServerSource } from '../definitions/definition.ts';

/** A server of the registry, or a definition that is about to be stored. */
export interface OboCandidate {
  readonly source: ServerSource;
  readonly settings: ServerSettings;
  readonly securityDecision?: SecurityDecision | undefined;
}

/** Decides whether tokens exchanged for a server's scopes may be sent to its address. */
export interface OboTargets {
  /** The first problem, or null if the server may receive tokens or does not use any. Without I/O; results are cached. */
  findProblem(server: OboCandidate): OboProblem | null;
}

interface OboTargetsParts {
  /** The providers of the current configuration. The array changes identity when the configuration is reloaded. */
  readonly providers: () => readonly ProviderSettings[];
  readonly login: () => KnownLogin | null;
  /** The servers of the configuration file. Changes identity on reload. */
  readonly declaredServers: () => readonly ServerSettings[];
  /** The scopes that are requested for `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}`. */
  readonly graphScopes: string;
}

interface CachedProblem {
  readonly authority: OboAuthority;
  readonly problem: OboProblem | null;
}

export function createOboTargets(parts: OboTargetsParts): OboTargets {
  let cache = new WeakMap<ServerSettings, CachedProblem>();
  const { graphScopes } = parts;
  let lastDeclared: readonly ServerSettings[] | undefined;
  let lastProviders: readonly ProviderSettings[] | undefined;
  let lastLogin: KnownLogin | null = null;

  return {
    findProblem(server) {
      const [providers, declaredServers, login] = [parts.providers(), parts.declaredServers(), parts.login()];
      const hasChanged = providers !== lastProviders || declaredServers !== lastDeclared;
      if (hasChanged || !isSameLogin(login, lastLogin)) cache = new WeakMap();
      lastProviders = providers;
      lastDeclared = declaredServers;
      lastLogin = login;
      const authority = getAuthority(server);
      const cached = cache.get(server.settings);
      if (cached?.authority === authority) return cached.problem;
      const context = { providers, login, graphScopes, declaredServers, authority };
      const problem = checkOboTarget(server.settings, context);
      cache.set(server.settings, { authority, problem });
      return problem;
    },
  };
}

/**
 * An override counts as the operator's only if it leaves every security field of the operator unchanged. Without an
 * intact security decision, the administrator's stricter rules apply.
 */
function getAuthority({ source, securityDecision }: OboCandidate): OboAuthority {
  if (source === 'yaml') return 'operator';
  if (source === 'user') return 'user';
  return securityDecision?.decidedBy === null && securityDecision.isIntact ? 'operator' : 'administrator';
}

function isSameLogin(a: KnownLogin | null, b: KnownLogin | null): boolean {
  if (a === b) return true;
  if (!a || !b || a.scopes.length !== b.scopes.length) return false;
  return (
    a.issuer === b.issuer &&
    a.clientId === b.clientId &&
    a.audience === b.audience &&
    a.scopes.every((scope, index) => scope === b.scopes[index])
  );
}
