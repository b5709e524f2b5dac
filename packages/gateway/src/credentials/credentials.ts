import { createHash } from 'node:crypto';
import type { bodyFields, TemplateValues } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey, type Principal } from '../principal/principal.ts';
import { renderTarget, type RenderContext, type RenderFailure } from '../registry/renderTarget.ts';
import { declaredVariables } from '../registry/scope.ts';
import type { UserServer } from '../registry/server.ts';
import type { Credential } from './credential.ts';
import { createRecent } from './recent.ts';
import { isBlank } from './userVariables.ts';
import type { VariableCache, VariableValues } from './variableCache.ts';

/** `absent`: the user has never signed in at this server. */
export type SignInReason = 'absent';

export type ObtainedCredential =
  | { readonly kind: 'ready'; readonly credential: Credential }
  | { readonly kind: 'needs_reauth'; readonly reason: SignInReason };

/** Fields of the chat request, as far as the caller sent them. */
export type BodyFields = { readonly [K in (typeof bodyFields)[number]]?: string };

export interface CredentialParts {
  readonly variables: VariableCache;
  /** Our own environment; child processes get a handful of names of it. */
  readonly inheritedEnv: RenderContext['inheritedEnv'];
}

/** What a user presents to a server that is not shared. */
export interface Credentials {
  /** Throws what is missing or unusable, by name. Nothing was sent then, and nothing can be. */
  obtain(server: UserServer, principal: Principal, fields?: BodyFields): Promise<ObtainedCredential>;
}

const MOST_RENDERED = 10_000;

/** A credential with all that it was made of, besides the definition. */
interface Rendered {
  readonly variables: VariableValues | null;
  readonly principal: Principal;
  readonly obtained: ObtainedCredential;
}

export function createCredentials({ variables, inheritedEnv }: CredentialParts): Credentials {
  const rendered = createRecent<Rendered>(MOST_RENDERED);

  function render(
    server: UserServer,
    principal: Principal,
    stored: VariableValues | null,
    fields: BodyFields,
  ): ObtainedCredential {
    const userVar = declaredValues(server, stored);
    const values: TemplateValues = { userVar, user: userFieldsOf(principal), body: present(fields) };
    const context = { audience: server.audience, inheritedEnv };
    const result = renderTarget(server.settings, values, context);
    if (!result.ok) throw unusable(result);
    const { target } = result;
    const binding = createHash('sha256')
      .update(JSON.stringify([principalKey(principal), server.revision, target]))
      .digest('base64url');
    return Object.freeze({ kind: 'ready', credential: Object.freeze({ target, binding }) });
  }

  const storedFor = (server: UserServer, principal: Principal) =>
    takesValues(server) ? variables.read(ownerOf(server, principal)) : null;

  return {
    async obtain(server, principal, fields = {}) {
      const signsIn = server.auth === 'oauth' || server.auth === 'obo';
      const stored = await storedFor(server, principal);
      if (signsIn) {
        // What the user can fill in comes first: without it a sign-in would lead nowhere.
        declaredValues(server, stored);
        return { kind: 'needs_reauth', reason: 'absent' };
      }
      if (server.requestScoped) return render(server, principal, stored, fields);
      // The revision has one length, so no two pairs share a key.
      const key = server.revision + principalKey(principal);
      const known = rendered.get(key);
      if (known?.variables === stored && sameUser(known.principal, principal)) return known.obtained;
      const obtained = render(server, principal, stored, {});
      rendered.set(key, { variables: stored, principal, obtained });
      return obtained;
    },
  };
}

/** Known from the kind of server alone, but for those that need a sign-in as well. */
function takesValues({ auth, settings }: UserServer): boolean {
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
function userFieldsOf({ kind, userId, name, email, role }: Principal): Record<string, string> {
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
