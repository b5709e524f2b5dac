import {
  oboTargetProblem,
  type KnownLogin,
  type OboAuthority,
  type OboProblem,
  type ProviderSettings,
  type ServerSettings,
} from '@behalf/settings';
import type { Secured } from '../registry/secured.ts';
import type { ServerSource } from '../registry/server.ts';

/** What is asked about: a server of the registry, or one that is about to be stored. */
export interface OboCandidate {
  readonly source: ServerSource;
  readonly settings: ServerSettings;
  readonly secured?: Secured | undefined;
}

/** Whether callers' tokens, exchanged for these scopes, may go to that address. */
export interface OboTargets {
  /** Null: they may, or the server gets no token. Without I/O, and nothing but a look once it was asked. */
  problemOf(server: OboCandidate): OboProblem | null;
}

export interface OboTargetsParts {
  /** Those of the running configuration: another list is another configuration. */
  readonly providers: () => readonly ProviderSettings[];
  readonly login: () => KnownLogin | null;
  /** The servers of the file, of the same configuration. */
  readonly declared: () => readonly ServerSettings[];
  /** What the token behind `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}` is asked for with. */
  readonly graphScopes: string;
}

interface Known {
  readonly by: OboAuthority;
  readonly problem: OboProblem | null;
}

export function createOboTargets(parts: OboTargetsParts): OboTargets {
  let known = new WeakMap<ServerSettings, Known>();
  const { graphScopes } = parts;
  let seenDeclared: readonly ServerSettings[] | undefined;
  let seenProviders: readonly ProviderSettings[] | undefined;
  let seenLogin: KnownLogin | null = null;

  return {
    problemOf(server) {
      const [providers, declared, login] = [parts.providers(), parts.declared(), parts.login()];
      const isOther = providers !== seenProviders || declared !== seenDeclared;
      if (isOther || !isSame(login, seenLogin)) known = new WeakMap();
      seenProviders = providers;
      seenDeclared = declared;
      seenLogin = login;
      const by = authorityOf(server);
      const before = known.get(server.settings);
      if (before?.by === by) return before.problem;
      const problem = oboTargetProblem(server.settings, { providers, login, graphScopes, declared, by });
      known.set(server.settings, { by, problem });
      return problem;
    },
  };
}

/** Of an override only what leaves the operator's decisions alone is the operator's; what is not known to be so is not. */
function authorityOf({ source, secured }: OboCandidate): OboAuthority {
  if (source === 'yaml') return 'operator';
  if (source === 'user') return 'user';
  return secured?.by === null && secured.intact ? 'operator' : 'administrator';
}

function isSame(a: KnownLogin | null, b: KnownLogin | null): boolean {
  if (a === b) return true;
  if (!a || !b || a.scopes.length !== b.scopes.length) return false;
  return (
    a.issuer === b.issuer &&
    a.clientId === b.clientId &&
    a.audience === b.audience &&
    a.scopes.every((scope, index) => scope === b.scopes[index])
  );
}
