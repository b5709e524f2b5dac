import { createHash } from 'node:crypto';
import type { bodyFields, TemplateValues } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey, type Principal } from '../principal/principal.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import { renderTarget, type RenderContext, type RenderFailure } from '../registry/renderTarget.ts';
import { declaredVariables, usesGraph } from '../registry/scope.ts';
import type { UserServer } from '../registry/server.ts';
import type { SharedTarget } from '../upstream/target.ts';
import type { Credential } from './credential.ts';
import type { Wanted } from './obo/exchangeKeys.ts';
import { canonicalUrl } from './oauth/canonicalUrl.ts';
import type { OAuthTokens, OwnToken } from './oauthTokens.ts';
import { createPurse, type OboTokens, type Purse } from './obo/oboTokens.ts';
import { createRecent } from './recent.ts';
import { SignInRequired } from './signInRequired.ts';
import { isBlank } from './userVariables.ts';
import type { VariableCache, VariableValues } from './variableCache.ts';

export type { SignInReason } from './signInReason.ts';

/** Fields of the chat request, as far as the caller sent them. */
export type BodyFields = { readonly [K in (typeof bodyFields)[number]]?: string };

export interface CredentialParts {
  readonly variables: VariableCache;
  /** What users' own tokens are exchanged for. */
  readonly obo: OboTokens;
  /** What users were given at servers. */
  readonly oauth: OAuthTokens;
  /** What the token behind `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}` is asked for with. */
  readonly graphScopes: string;
  /** Our own environment; child processes get a handful of names of it. */
  readonly inheritedEnv: RenderContext['inheritedEnv'];
}

/** What is presented in place of the token that is in use. */
export interface Instead {
  /** Which of the user's own credentials: that one or none. */
  readonly label?: string | undefined;
  /** This very one. */
  readonly own?: OwnToken | undefined;
}

/** What a user presents to a server that is not shared. */
export interface Credentials {
  /**
   * Throws what is missing or unusable, by name: `SignInRequired` where the user has to sign in at the server. Nothing was sent
   * then, and nothing can be. `purse`: of the call that it is for. `instead`: of the token that is in use.
   */
  obtain(
    server: UserServer,
    principal: Principal,
    fields?: BodyFields,
    purse?: Purse,
    instead?: Instead,
  ): Promise<Credential>;
}

const MOST_RENDERED = 10_000;

/** What a credential is made of. */
interface Ingredients {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly variables: VariableValues | null;
  readonly fields: BodyFields;
}

/** A credential with all that it was made of, besides the definition. */
interface Rendered extends Pick<Ingredients, 'variables' | 'principal'> {
  readonly credential: Credential;
}

/** In place of a token that changes while the connection stays: never sent anywhere. */
const STAND_IN = 'token';

export function createCredentials(parts: CredentialParts): Credentials {
  const { variables, inheritedEnv, obo, oauth } = parts;
  const rendered = createRecent<Rendered>(MOST_RENDERED);
  const graph: Wanted = Object.freeze({ scopes: parts.graphScopes });

  function fill({ server, principal, variables, fields }: Ingredients, graphToken: string): SharedTarget {
    const values: TemplateValues = {
      userVar: declaredValues(server, variables),
      user: userFieldsOf(principal),
      body: present(fields),
      graph: { ACCESS_TOKEN: graphToken },
    };
    const result = renderTarget(server.settings, values, { audience: server.audience, inheritedEnv });
    if (!result.ok) throw unusable(result);
    return result.target;
  }

  function render(of: Ingredients): Credential {
    const target = fill(of, STAND_IN);
    const binding = createHash('sha256')
      .update(JSON.stringify([principalKey(of.principal), of.server.revision, target]))
      .digest('base64url');
    return Object.freeze({ target, binding });
  }

  /** All but the tokens of others that are presented with it. */
  function known(of: Ingredients): Credential {
    const { server, principal } = of;
    if (server.requestScoped) return render(of);
    // The revision has one length, so no two pairs share a key.
    const key = server.revision + principalKey(principal);
    const last = rendered.get(key);
    if (last?.variables === of.variables && sameUser(last.principal, principal)) return last.credential;
    const credential = render({ ...of, fields: {} });
    rendered.set(key, { variables: of.variables, principal, credential });
    return credential;
  }

  const storedFor = (server: UserServer, principal: Principal) =>
    takesValues(server) ? variables.read(ownerOf(server, principal)) : null;

  return {
    async obtain(server, principal, fields = {}, purse = createPurse(), { label, own } = {}) {
      const of = { server, principal, variables: await storedFor(server, principal), fields };
      // What the user can fill in comes first: without it a sign-in would lead nowhere.
      const credential = known(of);
      const filled = usesGraph(server.settings)
        ? { ...credential, target: fill(of, await graphToken(server, principal, purse)) }
        : credential;
      if (takesOwnToken(server)) {
        return withOwnToken(filled, server, own ?? (await oauth.obtain(server, principal, purse, label)));
      }
      const wanted = 'obo' in server.settings ? server.settings.obo : undefined;
      if (!wanted || filled.target.type === 'stdio') return filled;
      const bearer = obo.bearerFor(server, principal, wanted, purse);
      return { ...filled, target: { ...filled.target, bearer } };
    },
  };

  /** With what the user was given at the server. The grant is part of the binding: another one is another session there. */
  function withOwnToken(credential: Credential, server: UserServer, own: OwnToken | null): Credential {
    const { target, binding } = credential;
    if (!own || target.type === 'stdio') return credential;
    // A value that users enter may stand in the address: what was given for one is nothing for another.
    if (canonicalUrl(target.url) !== own.canonicalUrl) throw new SignInRequired('unbound');
    return {
      target: { ...target, bearer: own.bearer },
      binding: binding + own.grant,
      label: own.key.label,
      ...(server.settings.exclusive && { exclusive: own.key }),
    };
  }

  async function graphToken(server: UserServer, principal: Principal, purse: Purse): Promise<string> {
    const token = await obo.bearerFor(server, principal, graph, purse).token();
    // What is bound to a key is nothing as a text in a header of its own.
    if (typeof token !== 'string') throw new GatewayError('OBO_MISCONFIGURED');
    return token;
  }
}

/** Where users sign in, or could: one that says nothing of credentials may ask for a sign-in when it is called. */
export function takesOwnToken(server: UserServer): boolean {
  return server.auth === 'oauth' || (server.auth === 'none' && couldSignIn(server));
}

/** Known from the kind of server alone, but for those that need a sign-in as well. */
export function takesValues({ auth, settings }: UserServer): boolean {
  return (
    auth === 'userVars' || (auth !== 'none' && auth !== 'static' && declaredVariables(settings).length > 0)
  );
}

const ownerOf = ({ id }: UserServer, { tenant, userId }: Principal) => ({ tenant, userId, serverId: id });

function sameUser(a: Principal, b: Principal): boolean {
  return a === b || (a.name === b.name && a.email === b.email && a.role === b.role);
}

/**
 * Only names that the definition declares: a value that came into the store under another name, that of the user's
 * identity say, is not there.
 */
function declaredValues(
  { name, settings }: UserServer,
  stored: VariableValues | null,
): Record<string, string> {
  const declared = declaredVariables(settings);
  const known = stored?.values ?? {};
  const values = declared.flatMap((variable) => {
    const value = Object.hasOwn(known, variable) ? known[variable] : undefined;
    return value === undefined || isBlank(value) ? [] : [[variable, value] as const];
  });
  if (values.length < declared.length) {
    const set = new Set(values.map(([variable]) => variable));
    const missing = declared.filter((variable) => !set.has(variable));
    throw new GatewayError('MCP_USER_VARS_MISSING', {
      detail: `The server "${name}" needs values from you: ${missing.join(', ')}. Fill them in and try again.`,
      errors: missing.map((path) => ({ path, code: 'variable_missing', message: 'is not set' })),
    });
  }
  return Object.fromEntries(values);
}

/** As far as we know the user. What is not here, or is blank, is not known, and what asks for it fails. */
export function userFieldsOf({ kind, userId, name, email, role }: Principal): Record<string, string> {
  // A program is nobody: what asks for a user fails for it.
  if (kind === 'service') return {};
  return present({ ID: userId, NAME: name, EMAIL: email, ROLE: role });
}

function present(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => !isBlank(entry[1] ?? '')),
  );
}

function unusable({ field, code, placeholders }: RenderFailure): GatewayError {
  const named = placeholders.join(', ') || 'its text';
  const fromBody = placeholders.some((text) => text.startsWith('{{LIBRECHAT_BODY_'));
  const missing = code === 'placeholder_unresolved';
  return new GatewayError(fromBody ? 'REQUEST_INVALID' : 'MCP_CONFIG_INVALID', {
    detail: missing
      ? `Nothing was sent: ${field} of the server needs ${named}, which has no value here.`
      : `Nothing was sent: ${field} of the server cannot hold the value of ${named}.`,
    errors: [{ path: field, code, message: missing ? `needs ${named}` : `cannot hold ${named}` }],
  });
}
