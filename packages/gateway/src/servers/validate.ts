import { type Finding, type Path, createFinding } from '@behalf/contracts';
import { isObject } from '@behalf/kernel';
import {
  type CompiledDefinition,
  NO_PROVIDER,
  type ServerSettings,
  compileDefinition,
  isUnencryptedRemote,
  parseTemplate,
  readLiteralText,
} from '@behalf/settings';
import type { OboCandidate } from '../access/oboTargets.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type UserServer, listDeclaredVariables, needsOAuth, usesObo } from '../definitions/definition.ts';
import type { ConfigureParts } from './editing.ts';
import { type Fields, createConfigError, findTextProblems, toFields } from './fields.ts';
import { createSnapshot } from '../definitions/snapshot.ts';

/**
 * The fields that a user may set. All others are reserved for the operator: processes and files of this machine,
 * proxies, time limits, and values that other users must enter.
 */
export const inputKeys: ReadonlySet<string> = new Set([
  'type',
  'url',
  'headers',
  'title',
  'description',
  'iconPath',
  'oauth',
  'apiKey',
  'obo',
]);

/** Fields of `oauth` and `obo` with which a user could choose the audience of a token, or other operator settings. */
const operatorKeys: Readonly<Record<string, readonly string[]>> = {
  oauth: [
    'audience',
    'forward_audience_on_refresh',
    'resource',
    'legacyAuthDiscovery',
    'skip_code_challenge_check',
    'grant',
    'private_key_file',
    'private_key_id',
    'private_key_alg',
    'authorize_params',
    'dpop',
  ],
  obo: ['provider', 'grant', 'audience', 'resource'],
};

/** A query in these URLs could set `audience`, `resource`, `request_uri` or `claims`. */
const endpointKeys = ['authorization_url', 'token_url', 'revocation_endpoint'] as const;

/** Not rendered, so they cannot contain placeholders. */
const literalTextKeys = new Set(['title', 'description', 'iconPath']);

/**
 * Compiles a user's definition under the rules for users: no process, no environment variables, no placeholders except
 * variables that the definition declares. Rejects the whole definition instead of removing forbidden fields, because
 * the rest is not what its author meant.
 */
export function compileStored(name: string, value: unknown): CompiledDefinition {
  const errors = findTierProblems(value, ['mcpServers', name]);
  if (errors.length > 0) return { ok: false, errors };
  // Without an environment, a `${...}` that the checks above missed has no value.
  return compileDefinition(name, value, { env: {} });
}

function findTierProblems(value: unknown, path: Path): Finding[] {
  if (!isObject(value)) return [createFinding(path, 'wrong_type', 'must be a mapping')];
  const reject = (fieldPath: Path) =>
    createFinding(fieldPath, 'operator_only', 'can be set by the operator only', 'remove it');
  const errors: Finding[] = [];
  for (const [key, item] of Object.entries(value)) {
    const fieldPath = [...path, key];
    if (!inputKeys.has(key) || (key === 'type' && item === 'stdio')) errors.push(reject(fieldPath));
    else if (!literalTextKeys.has(key))
      errors.push(...findTextProblems(item, fieldPath, findPlaceholderProblem));
    if (!isObject(item)) continue;
    for (const reserved of operatorKeys[key] ?? [])
      if (Object.hasOwn(item, reserved)) errors.push(reject([...fieldPath, reserved]));
  }
  const oauth = toFields(value['oauth']);
  for (const key of endpointKeys) {
    const text = oauth[key];
    if (typeof text !== 'string' || !text.includes('?')) continue;
    const endpointPath = [...path, 'oauth', key];
    errors.push(createFinding(endpointPath, 'operator_only', 'must not contain a query', 'remove the query'));
  }
  return errors;
}

function findPlaceholderProblem(text: string, path: Path): Finding[] {
  const parsed = parseTemplate(text);
  // The compiler reports invalid templates. One that may contain a variable is rejected here in any case.
  const hasForbidden = parsed.ok
    ? parsed.template.some(({ kind }) => kind !== 'literal' && kind !== 'userVar')
    : text.includes('${') || text.includes('LIBRECHAT_');
  if (!hasForbidden) return [];
  const message =
    'may contain only user variables, no placeholders for the environment, the identity or the request';
  return [createFinding(path, 'placeholder_forbidden', message, 'remove the placeholder')];
}

/**
 * Checks the address of a user's server and probes it, before anything is stored. Returns null if the server cannot be
 * probed without a user.
 */
export async function requireReachable<P>(
  parts: Pick<ConfigureParts, 'checkAddress' | 'oboTargets' | 'isPlainHttpAllowed'> & {
    readonly inspect: (server: UserServer) => Promise<P>;
  },
  server: UserServer,
): Promise<P | null> {
  const { settings } = server;
  requireSafeTarget(parts, { source: 'user', settings }, { isUntrustedAddress: true });
  const address = findLiteralAddress(settings);
  if (address !== undefined) await parts.checkAddress(address);
  // A server with OBO is never probed. One that needs a sign-in or a user's value has no credential to present yet.
  const canProbe =
    !usesObo(settings) && !needsOAuth(settings) && listDeclaredVariables(settings).length === 0;
  return canProbe ? parts.inspect(server) : null;
}

/** A snapshot of a definition that is not, or not yet, in the registry. */
export function toUserServer(
  settings: ServerSettings,
  { id, tenant, author }: { readonly id: string; readonly tenant: string; readonly author: string },
): UserServer {
  const identity = { id, tenant, author, source: 'user' } as const;
  const snapshot = createSnapshot(settings, identity, {
    inheritedEnv: {},
    addressPolicy: '',
    appBearer: () => {
      throw new GatewayError('MCP_CONFIG_INVALID');
    },
  });
  // `resolveScope` never makes a user's server shared. The type system does not know this.
  if (!snapshot.ok || snapshot.server.scope !== 'user') throw new GatewayError('MCP_CONFIG_INVALID');
  return snapshot.server;
}

/** Undefined if a user's value chooses the host. Such an address is checked with each request. */
function findLiteralAddress(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  const { url } = settings;
  const literal = readLiteralText(url);
  if (literal !== undefined) return literal;
  const [firstPart] = url;
  const text = firstPart?.kind === 'literal' ? firstPart.text : '';
  return /^[a-z]+:\/\/[^/?#]+[/?#]/i.test(text) ? new URL(text).origin : undefined;
}

/**
 * Throws unless users' credentials may be sent to the address of this definition. Called before a definition is stored
 * or probed. Each exchange repeats the OBO check, because the operator may change the configuration later.
 */
export function requireSafeTarget(
  { oboTargets, isPlainHttpAllowed }: Pick<ConfigureParts, 'oboTargets' | 'isPlainHttpAllowed'>,
  server: OboCandidate,
  { isUntrustedAddress }: { readonly isUntrustedAddress: boolean },
): void {
  const { settings } = server;
  const problem = oboTargets.findProblem(server);
  // Without a provider no token is exchanged. The definition may be stored before the provider is configured.
  if (problem && problem.code !== NO_PROVIDER) throw createConfigError([problem]);
  const sendsUserValues = listDeclaredVariables(settings).length > 0 || needsOAuth(settings);
  if (!isUntrustedAddress || !sendsUserValues || settings.type === 'stdio') return;
  // Users' values cannot change the scheme, so any text can replace them.
  const address = settings.url.map((part) => (part.kind === 'literal' ? part.text : 'value')).join('');
  if (!isUnencryptedRemote(address) || isPlainHttpAllowed(address)) return;
  throw createConfigError([
    createFinding(
      ['url'],
      'plain_http',
      'must use https: over http, user values and tokens could be read in transit',
      'use https, or have the operator list it with http:// in mcpSettings.allowedDomains',
    ),
  ]);
}

const MAX_DEFINITION_BYTES = 64 * 1024;
const MAX_HEADERS = 50;
const MAX_HEADER_LENGTH = 8 * 1024;
const MAX_URL_LENGTH = 2 * 1024;
const MAX_TITLE_LENGTH = 100;
const MAX_DESCRIPTION_LENGTH = 4_096;
/** More than a valid definition needs. Limits the recursion over user input. */
const MAX_DEPTH = 5;

/** Validates and compiles a user's input. Throws MCP_CONFIG_INVALID with all invalid fields. */
export function compileInput(name: string, definition: Fields): ServerSettings {
  const sizeFindings = findSizeProblems(definition);
  if (sizeFindings.length > 0) throw createConfigError(sizeFindings);
  return requireCompiled(compileStored(name, definition));
}

/** Reports fields relative to the definition: the user did not send `mcpServers.<name>`. */
export function requireCompiled(compiled: CompiledDefinition): ServerSettings {
  if (compiled.ok) return compiled.server;
  throw createConfigError(compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: path.slice(2) })));
}

/** Must run before any recursive function reads the input. */
export function requireMaxDepth(definition: unknown): void {
  if (exceedsDepth(definition, MAX_DEPTH))
    throw createConfigError([createFinding([], 'too_deep', 'is nested too deep')]);
}

function exceedsDepth(value: unknown, remaining: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return remaining === 0 || Object.values(value).some((item) => exceedsDepth(item, remaining - 1));
}

function findSizeProblems(definition: Fields): Finding[] {
  const problems: Finding[] = [];
  const checkLimit = (size: number, max: number, path: readonly string[], unit: string): void => {
    if (size > max) problems.push(createFinding(path, 'too_long', `may have at most ${max} ${unit}`));
  };
  const checkLength = (value: unknown, max: number, path: readonly string[]): void => {
    if (typeof value === 'string') checkLimit(value.length, max, path, 'characters');
  };
  checkLimit(Buffer.byteLength(JSON.stringify(definition)), MAX_DEFINITION_BYTES, [], 'bytes');
  checkLength(definition['url'], MAX_URL_LENGTH, ['url']);
  checkLength(definition['title'], MAX_TITLE_LENGTH, ['title']);
  checkLength(definition['description'], MAX_DESCRIPTION_LENGTH, ['description']);
  const headers = Object.entries(toFields(definition['headers']));
  checkLimit(headers.length, MAX_HEADERS, ['headers'], 'entries');
  for (const [name, value] of headers) checkLength(value, MAX_HEADER_LENGTH, ['headers', name]);
  for (const [name, value] of Object.entries(toFields(definition['oauth']))) {
    checkLength(value, MAX_HEADER_LENGTH, ['oauth', name]);
  }
  checkLength(toFields(definition['apiKey'])['key'], MAX_HEADER_LENGTH, ['apiKey', 'key']);
  return problems;
}
