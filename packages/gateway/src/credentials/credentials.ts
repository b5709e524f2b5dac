import { createHash } from 'node:crypto';
import { LruMap } from '@behalf/kernel';
import type { TemplateValues, bodyFields } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import {
  type UserServer,
  listDeclaredVariables,
  mayRequireOAuth,
  usesGraph,
} from '../definitions/definition.ts';
import { type RenderContext, type RenderFailure, renderTarget } from '../definitions/render.ts';
import type { SharedTarget, UpstreamTarget } from '../upstream/target.ts';
import { canonicalizeUrl } from './oauth/addresses.ts';
import type { OAuthTokens, UserToken } from './oauthTokens.ts';
import { type OboTokens, type TokenRequestBudget, createTokenRequestBudget } from './obo/bearer.ts';
import type { OboOptions } from './obo/key.ts';
import { SignInRequired } from './signInRequired.ts';
import { isBlank } from './variables/userVariables.ts';
import { type VariableCache, type VariableValues, variableOwner } from './variables/variableCache.ts';

/** The target of a call with everything that it presents to the server. */
export interface Credential {
  readonly target: UpstreamTarget;
  /**
   * Two credentials with the same binding may share a session: same address, user, values and grant. A refresh does
   * not change it. A hash: it reveals none of these.
   */
  readonly binding: string;
  /** Set if only one call at a time may use this credential. */
  readonly exclusiveKey?: CredentialKey;
  /** The label of the credential, if the user may have several. */
  readonly label?: string;
}

export type { SignInReason } from './signInRequired.ts';

/** The fields of the chat request that the caller sent. */
export type BodyFields = { readonly [K in (typeof bodyFields)[number]]?: string };

interface CredentialParts {
  readonly variables: VariableCache;
  /** Tokens by token exchange (On-Behalf-Of). */
  readonly obo: OboTokens;
  /** Tokens by sign-in at the server. */
  readonly oauth: OAuthTokens;
  /** The scopes of the token in `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}`. */
  readonly graphScopes: string;
  /** The gateway's environment. Child processes receive a few of its variables. */
  readonly inheritedEnv: RenderContext['inheritedEnv'];
}

/** Replaces the token of the selected credential. */
interface CredentialOverride {
  /** The user's credential with this label, or none. */
  readonly label?: string | undefined;
  /** This token. */
  readonly userToken?: UserToken | undefined;
}

/** The credentials of users for user-scoped servers. */
export interface Credentials {
  /**
   * Throws if something is missing or unusable: `SignInRequired` if the user must sign in at the server, otherwise an
   * error that names the missing values. Nothing was sent to the server then. `budget`: the budget of the call.
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

interface RenderInput {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly variables: VariableValues | null;
  readonly fields: BodyFields;
}

/** A cached credential with the inputs that it was rendered from. */
interface RenderedEntry extends Pick<RenderInput, 'variables' | 'principal'> {
  readonly credential: Credential;
}

/** Replaces the Graph token when the binding is computed: a new token must not change the binding. Never sent. */
const PLACEHOLDER_TOKEN = 'token';

export function createCredentials(parts: CredentialParts): Credentials {
  const { variables, inheritedEnv, obo, oauth } = parts;
  const renderedCache = new LruMap<string, RenderedEntry>(MAX_RENDERED);
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

  /** Without tokens. */
  function renderCached(input: RenderInput): Credential {
    const { server, principal } = input;
    if (server.requestScoped) return renderCredential(input);
    // All revisions have the same length, so the concatenation is unambiguous.
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
      // Report missing values first: a sign-in without them would not make the call possible.
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

  /** Adds the user's token. The grant is part of the binding: another grant needs another session. */
  function withUserToken(
    credential: Credential,
    server: UserServer,
    userToken: UserToken | null,
  ): Credential {
    const { target, binding } = credential;
    if (!userToken || target.type === 'stdio') return credential;
    // The address may contain a user variable. A token for one address must not be sent to another.
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
    // A DPoP-bound token does not work as a plain header value.
    if (typeof token !== 'string') throw new GatewayError('OBO_MISCONFIGURED');
    return token;
  }
}

/** Whether users sign in at the server, or may have to: a server without `auth` may answer 401. */
export function usesUserToken(server: UserServer): boolean {
  return server.auth === 'oauth' || (server.auth === 'none' && mayRequireOAuth(server));
}

/** Whether the definition contains values that users enter. */
export function usesUserVariables({ auth, settings }: UserServer): boolean {
  return (
    auth === 'userVars' ||
    (auth !== 'none' && auth !== 'static' && listDeclaredVariables(settings).length > 0)
  );
}

function isSameUser(a: Principal, b: Principal): boolean {
  return a === b || (a.name === b.name && a.email === b.email && a.role === b.role);
}

/** Only declared names: a stored value under another name, such as an identity field, is ignored. */
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

/** The identity fields of templates. A template that needs a field that is missing or blank fails. */
export function userFieldsOf({ kind, userId, name, email, role }: Principal): Record<string, string> {
  // Service principals have no user identity.
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
