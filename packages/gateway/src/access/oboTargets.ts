import {
  checkOboTarget,
  type KnownLogin,
  type OboAuthority,
  type OboProblem,
  type ProviderSettings,
  type ServerSettings,
} from '@behalf/settings';
import type { SecurityDecision, ServerSource } from '../servers/definition.ts';

/** What is asked about: a server of the registry, or one that is about to be stored. */
export interface OboCandidate {
  readonly source: ServerSource;
  readonly settings: ServerSettings;
  readonly securityDecision?: SecurityDecision | undefined;
}

/** Whether callers' tokens, exchanged for these scopes, may go to that address. */
export interface OboTargets {
  /** Null: they may, or the server gets no token. Without I/O, and nothing but a look once it was asked. */
  findProblem(server: OboCandidate): OboProblem | null;
}

export interface OboTargetsParts {
  /** Those of the running configuration: another list is another configuration. */
  readonly providers: () => readonly ProviderSettings[];
  readonly login: () => KnownLogin | null;
  /** The servers of the file, of the same configuration. */
  readonly declaredServers: () => readonly ServerSettings[];
  /** What the token behind `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}` is asked for with. */
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
      const authority = authorityOf(server);
      const cached = cache.get(server.settings);
      if (cached?.authority === authority) return cached.problem;
      const problem = checkOboTarget(server.settings, {
        providers,
        login,
        graphScopes,
        declaredServers,
        authority,
      });
      cache.set(server.settings, { authority, problem });
      return problem;
    },
  };
}

/** Of an override only what leaves the operator's decisions alone is the operator's; what is not known to be so is not. */
function authorityOf({ source, securityDecision }: OboCandidate): OboAuthority {
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
