import { createHash } from 'node:crypto';
import type { TemplateValues, bodyFields } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import { type UserServer, listDeclaredVariables, mayRequireOAuth, usesGraph } from '../servers/definition.ts';
import { type RenderContext, type RenderFailure, renderTarget } from '../servers/render.ts';
import type { SharedTarget, UpstreamTarget } from '../upstream/target.ts';
import { createLruMap } from './lruMap.ts';
import { canonicalizeUrl } from './oauth/addresses.ts';
import type { OAuthTokens, UserToken } from './oauthTokens.ts';
import { type OboTokens, type TokenRequestBudget, createTokenRequestBudget } from './obo/bearer.ts';
import type { OboOptions } from './obo/key.ts';
import { SignInRequired } from './signInRequired.ts';
import { isBlank } from './variables/userVariables.ts';
import type { VariableCache, VariableValues } from './variables/variableCache.ts';

/**
 * What this caller presents to this server, and where. A connection does not know where it came from.
 */
export interface Credential {
  readonly target: UpstreamTarget;
  /**
   * Two credentials with one binding may share a session: the same address, the same values of the same user, the same
   * grant. A token that is merely refreshed keeps it. A hash: it tells nothing of what it binds.
   */
  readonly binding: string;
  /** Only one call at a time may be made with it: which credential it is. */
  readonly exclusiveKey?: CredentialKey;
  /** Which of the user's own it is, where they may have several. */
  readonly label?: string;
}

export type { SignInReason } from './signInRequired.ts';

/** Fields of the chat request, as far as the caller sent them. */
export type BodyFields = { readonly [K in (typeof bodyFields)[number]]?: string };

interface CredentialParts {
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
interface CredentialOverride {
  /** Which of the user's own credentials: that one or none. */
  readonly label?: string | undefined;
  /** This very one. */
  readonly userToken?: UserToken | undefined;
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
    budget?: TokenRequestBudget,
    override?: CredentialOverride,
  ): Promise<Credential>;
}

const MAX_RENDERED = 10_000;

/** What a credential is made of. */
interface RenderInput {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly variables: VariableValues | null;
  readonly fields: BodyFields;
}

/** A credential with all that it was made of, besides the definition. */
interface RenderedEntry extends Pick<RenderInput, 'variables' | 'principal'> {
  readonly credential: Credential;
}

/** In place of a token that changes while the connection stays: never sent anywhere. */
const PLACEHOLDER_TOKEN = 'token';

export function createCredentials(parts: CredentialParts): Credentials {
  const { variables, inheritedEnv, obo, oauth } = parts;
  const renderedCache = createLruMap<RenderedEntry>(MAX_RENDERED);
  const graphRequest: OboOptions = Object.freeze({ scopes: parts.graphScopes });

  function renderServer(
    { server, principal, variables, fields }: RenderInput,
    graphToken: string,
  ): SharedTarget {
    const values: TemplateValues = {
      userVar: requireDeclaredValues(server, variables),
      user: userFieldsOf(principal),
      body: withoutBlanks(fields),
      graph: { ACCESS_TOKEN: graphToken },
    };
    const result = renderTarget(server.settings, values, { audience: server.audience, inheritedEnv });
    if (!result.ok) throw toRenderError(result);
    return result.target;
  }

  function renderCredential(input: RenderInput): Credential {
    const target = renderServer(input, PLACEHOLDER_TOKEN);
    const binding = createHash('sha256')
      .update(JSON.stringify([principalKey(input.principal), input.server.revision, target]))
      .digest('base64url');
    return Object.freeze({ target, binding });
  }

  /** All but the tokens of others that are presented with it. */
  function renderCached(input: RenderInput): Credential {
    const { server, principal } = input;
    if (server.requestScoped) return renderCredential(input);
    // The revision has one length, so no two pairs share a key.
    const key = server.revision + principalKey(principal);
    const cached = renderedCache.get(key);
    if (cached?.variables === input.variables && isSameUser(cached.principal, principal))
      return cached.credential;
    const credential = renderCredential({ ...input, fields: {} });
    renderedCache.set(key, { variables: input.variables, principal, credential });
    return credential;
  }

  const readVariables = (server: UserServer, principal: Principal) =>
    usesUserVariables(server) ? variables.read(variableOwner(server, principal)) : null;

  return {
    async obtain(
      server,
      principal,
      fields = {},
      budget = createTokenRequestBudget(),
      { label, userToken } = {},
    ) {
      const input = { server, principal, variables: await readVariables(server, principal), fields };
      // What the user can fill in comes first: without it a sign-in would lead nowhere.
      const credential = renderCached(input);
      const rendered = usesGraph(server.settings)
        ? { ...credential, target: renderServer(input, await obtainGraphToken(server, principal, budget)) }
        : credential;
      if (usesUserToken(server)) {
        return withUserToken(
          rendered,
          server,
          userToken ?? (await oauth.obtain(server, principal, budget, label)),
        );
      }
      const oboSettings = 'obo' in server.settings ? server.settings.obo : undefined;
      if (!oboSettings || rendered.target.type === 'stdio') return rendered;
      const bearer = obo.bearerFor(server, principal, oboSettings, budget);
      return { ...rendered, target: { ...rendered.target, bearer } };
    },
  };

  /** With what the user was given at the server. The grant is part of the binding: another one is another session there. */
  function withUserToken(
    credential: Credential,
    server: UserServer,
    userToken: UserToken | null,
  ): Credential {
    const { target, binding } = credential;
    if (!userToken || target.type === 'stdio') return credential;
    // A value that users enter may stand in the address: what was given for one is nothing for another.
    if (canonicalizeUrl(target.url) !== userToken.canonicalUrl) throw new SignInRequired('unbound');
    return {
      target: { ...target, bearer: userToken.bearer },
      binding: binding + userToken.grantHash,
      label: userToken.key.label,
      ...(server.settings.exclusive && { exclusiveKey: userToken.key }),
    };
  }

  async function obtainGraphToken(
    server: UserServer,
    principal: Principal,
    budget: TokenRequestBudget,
  ): Promise<string> {
    const token = await obo.bearerFor(server, principal, graphRequest, budget).token();
    // What is bound to a key is nothing as a text in a header of its own.
    if (typeof token !== 'string') throw new GatewayError('OBO_MISCONFIGURED');
    return token;
  }
}

/** Where users sign in, or could: one that says nothing of credentials may ask for a sign-in when it is called. */
export function usesUserToken(server: UserServer): boolean {
  return server.auth === 'oauth' || (server.auth === 'none' && mayRequireOAuth(server));
}

/** Known from the kind of server alone, but for those that need a sign-in as well. */
export function usesUserVariables({ auth, settings }: UserServer): boolean {
  return (
    auth === 'userVars' ||
    (auth !== 'none' && auth !== 'static' && listDeclaredVariables(settings).length > 0)
  );
}

const variableOwner = ({ id }: UserServer, { tenant, userId }: Principal) => ({
  tenant,
  userId,
  serverId: id,
});

function isSameUser(a: Principal, b: Principal): boolean {
  return a === b || (a.name === b.name && a.email === b.email && a.role === b.role);
}

/**
 * Only names that the definition declares: a value that came into the store under another name, that of the user's
 * identity say, is not there.
 */
function requireDeclaredValues(
  { name, settings }: UserServer,
  stored: VariableValues | null,
): Record<string, string> {
  const declared = listDeclaredVariables(settings);
  const storedValues = stored?.values ?? {};
  const values = declared.flatMap((variable) => {
    const value = Object.hasOwn(storedValues, variable) ? storedValues[variable] : undefined;
    return value === undefined || isBlank(value) ? [] : [[variable, value] as const];
  });
  if (values.length < declared.length) {
    const namesWithValue = new Set(values.map(([variable]) => variable));
    const missing = declared.filter((variable) => !namesWithValue.has(variable));
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
  return withoutBlanks({ ID: userId, NAME: name, EMAIL: email, ROLE: role });
}

function withoutBlanks(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => !isBlank(entry[1] ?? '')),
  );
}

function toRenderError({ field, code, placeholders }: RenderFailure): GatewayError {
  const placeholderText = placeholders.join(', ') || 'a placeholder';
  const isFromBody = placeholders.some((text) => text.startsWith('{{LIBRECHAT_BODY_'));
  const isUnresolved = code === 'placeholder_unresolved';
  return new GatewayError(isFromBody ? 'REQUEST_INVALID' : 'MCP_CONFIG_INVALID', {
    detail: isUnresolved
      ? `The request was not sent: ${field} of the server needs ${placeholderText}, which has no value.`
      : `The request was not sent: the value of ${placeholderText} is not allowed in ${field} of the server.`,
    errors: [
      {
        path: field,
        code,
        message: isUnresolved ? `needs ${placeholderText}` : `does not allow the value of ${placeholderText}`,
      },
    ],
  });
}
