import { didYouMean, matchesTarget, scopeList, type ExchangeTarget, type Obo } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import type { ServerSettings } from '../compile/serverSettings.ts';
import { literalText } from '../template/template.ts';
import { asksOf, type Ask, type RemoteSettings } from './asks.ts';
import { exchangeAt, type ExchangeAt, type KnownLogin } from './exchangeAt.ts';
import { guardedNames, guardedScopes, type Guarded } from './guardedResource.ts';
import { isReadable } from './plainHttp.ts';

/** Why no user's token may be exchanged for a server. Never repeats what the definition says. */
export interface OboProblem {
  readonly code: string;
  readonly message: string;
  readonly suggestion: string;
  /** Below the definition of the server. */
  readonly path: readonly string[];
}

/** On whose word the address and the scopes rest: decides what may be asked for without `targets`. */
export type OboAuthority = 'operator' | 'administrator' | 'user';

export interface OboSurroundings {
  readonly providers: readonly ProviderSettings[];
  readonly login: KnownLogin | null;
  /** What the token behind `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}` is asked for with. */
  readonly graphScopes: string;
  /** The servers of the file. What they have already rests on the operator's word, whatever else an override changes. */
  readonly declared: readonly ServerSettings[];
  readonly by: OboAuthority;
}

/** The code for a missing provider: a server with this problem stays, and its calls say so. */
export const NO_PROVIDER = 'obo_login';

/**
 * Whether tokens with these scopes may go to this address. The one place that decides it: asked of the file when it
 * loads, of other definitions when they are stored, and of all of them before each exchange. A process has no address.
 */
export function oboTargetProblem(server: ServerSettings, around: OboSurroundings): OboProblem | null {
  if (server.type === 'stdio') return null;
  const problems = asksOf(server, around.graphScopes).flatMap((ask) => askProblem(server, ask, around) ?? []);
  return problems.find(({ code }) => code !== NO_PROVIDER) ?? problems[0] ?? null;
}

function askProblem(server: RemoteSettings, ask: Ask, around: OboSurroundings): OboProblem | null {
  const { wanted, word } = ask;
  const url = literalText(server.url);
  if (url === undefined) {
    const message = `may not hold a placeholder next to ${word}`;
    return problem(['url'], 'obo_url', message, `write the address out, or remove ${word}`);
  }
  if (scopeList(wanted.scopes).length === 0) {
    return problem(ask.scopesPath, 'missing', 'are empty', 'name a scope');
  }
  const at = exchangeAt(wanted.provider, around.providers, around.login);
  if (at === 'unknown') {
    const names = around.providers.map(({ name }) => name);
    const near = didYouMean(wanted.provider ?? '', names) ?? 'add it there';
    return problem(['obo', 'provider'], 'provider_unknown', 'is not an entry of identityProviders', near);
  }
  if (at !== 'none' && at.type === 'entra') {
    const field = (['grant', 'audience', 'resource'] as const).find((key) => wanted[key] !== undefined);
    if (field) {
      const message = 'has no meaning at a provider of type entra, where scopes name the resource';
      return problem(['obo', field], 'obo_entra', message, 'remove it');
    }
  }
  if (at !== 'none' && at.type === 'id-jag') {
    const idJag = idJagProblem(wanted, at);
    if (idJag) return idJag;
  }
  if (around.by === 'user') {
    const field = (['provider', 'grant', 'audience', 'resource'] as const).find(
      (key) => wanted[key] !== undefined,
    );
    const only = 'can be set by the operator only';
    if (field) return problem(['obo', field], 'operator_only', only, 'remove it');
    if ('proxy' in server && server.proxy !== undefined) {
      return problem(['proxy'], 'operator_only', only, `remove proxy or ${word}`);
    }
  }
  const isOperators =
    around.by === 'operator' ||
    (around.by === 'administrator' && isDeclared(server.name, url, wanted, around));
  if (at !== 'none' && at.targets) return targetProblem(at.name, at.targets, { url, ask, isOperators });
  if (isReadable(url)) {
    return problem(
      ['url'],
      'plain_http',
      `must be https next to ${word}: over http everybody on the way could read the token`,
      'use https, or list the origin under targets of the provider in identityProviders',
    );
  }
  const guarded = isOperators ? null : guardedAsk(ask, at, around.login);
  if (guarded) return guarded;
  if (at !== 'none') return null;
  return problem(
    ask.path,
    NO_PROVIDER,
    'there is no provider to exchange tokens at: calls will be refused',
    'set OPENID_ISSUER and OPENID_CLIENT_ID, or name an entry of identityProviders in obo.provider',
  );
}

/** An assertion goes to the issuers of the list, and the exchange is one of two legs whatever the server says. */
function idJagProblem({ grant, audience }: Obo, { name, resourceIssuers }: ExchangeAt): OboProblem | null {
  if (grant !== undefined) {
    return problem(
      ['obo', 'grant'],
      'obo_id_jag',
      'has no meaning at a provider of type id-jag',
      'remove it',
    );
  }
  if (audience === undefined || resourceIssuers.includes(audience)) return null;
  const suggestion = didYouMean(audience, resourceIssuers) ?? 'add it there, or remove it here';
  const message = `is not an issuer of identityProviders.${name}.resourceServers`;
  return problem(['obo', 'audience'], 'obo_id_jag', message, suggestion);
}

/** Whether the file has this server with the very same token at the very same address. */
function isDeclared(name: string, url: string, wanted: Obo, around: OboSurroundings): boolean {
  return around.declared.some(
    (server) =>
      server.type !== 'stdio' &&
      server.name === name &&
      literalText(server.url) === url &&
      asksOf(server, around.graphScopes).some((ask) => isSameToken(ask.wanted, wanted)),
  );
}

function isSameToken(a: Obo, b: Obo): boolean {
  return (
    scopeList(a.scopes).join(' ') === scopeList(b.scopes).join(' ') &&
    (['provider', 'grant', 'audience', 'resource'] as const).every((key) => a[key] === b[key])
  );
}

interface Aimed {
  readonly url: string;
  readonly ask: Ask;
  readonly isOperators: boolean;
}

function targetProblem(
  name: string,
  targets: readonly ExchangeTarget[],
  { url, ask: { wanted, path }, isOperators }: Aimed,
): OboProblem | null {
  if (!matchesTarget(targets, wanted.scopes, url)) {
    return problem(
      path,
      'obo_target',
      `these scopes may not go to this address by identityProviders.${name}.targets`,
      'add the scopes and the origin there, or correct them here',
    );
  }
  // Targets speak of scopes. For another audience the same scopes are another token, which nobody listed.
  const field = (['audience', 'resource'] as const).find((key) => wanted[key] !== undefined);
  if (field === undefined || isOperators) return null;
  return problem(
    ['obo', field],
    'obo_target',
    `is not what the file asks for at this address, and identityProviders.${name} has targets`,
    'remove it, or have the operator define the server in the file',
  );
}

function guardedAsk(ask: Ask, at: ExchangeAt | 'none', login: KnownLogin | null): OboProblem | null {
  const { wanted, scopesPath } = ask;
  const guarded = guardedScopes(scopeList(wanted.scopes), at, login);
  if (guarded) return guardedProblem(scopesPath, guarded, at);
  for (const field of ['audience', 'resource'] as const) {
    const named = guardedNames(wanted[field] === undefined ? [] : [wanted[field]], at, login);
    if (named) return guardedProblem(['obo', field], named, at);
  }
  return null;
}

const asked: Readonly<Record<Guarded, string>> = {
  graph: 'means Microsoft Graph, or no resource, which Entra takes for Graph',
  arm: 'means the management of Azure',
  microsoft: 'means a service of Microsoft’s own',
  bare: 'names no resource, and what that means at this provider is not known',
  login: 'means the application that people sign in to',
  garbled: 'cannot be read',
};

function guardedProblem(path: readonly string[], guarded: Guarded, at: ExchangeAt | 'none'): OboProblem {
  const name = at === 'none' ? '<provider>' : at.name;
  return problem(
    path,
    'obo_scope',
    `${asked[guarded]}: only the operator decides where such a token goes`,
    guarded === 'garbled'
      ? 'write it without encoding'
      : `ask for what is the server’s own, or have the operator list it under identityProviders.${name}.targets`,
  );
}

function problem(path: readonly string[], code: string, message: string, suggestion: string): OboProblem {
  return { path, code, message, suggestion };
}
