import { type Finding, createFinding, formatPath } from '@behalf/contracts';
import { NO_PROVIDER, type ServerSettings, isUnencryptedRemote, readLiteralText } from '@behalf/settings';
import type { OboCandidate } from '../../access/oboTargets.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type UserServer, listDeclaredVariables, needsOAuth, usesObo } from '../definition.ts';
import { type Fields, isMapping, toFields } from '../fields.ts';
import { createSnapshot } from '../snapshot.ts';
import { compileStored } from '../stored.ts';
import type { ConfigureParts, ServerProbe } from './editing.ts';

/**
 * Whether users' values may go there, whether users may choose this address, and whether an MCP server is there. Before
 * anything of it is stored. Null: it cannot be looked at before a user comes.
 */
export async function requireReachable(
  parts: Pick<ConfigureParts, 'checkAddress' | 'inspect' | 'oboTargets' | 'isPlainHttpAllowed'>,
  server: UserServer,
): Promise<ServerProbe | null> {
  const { settings } = server;
  requireSafeTarget(parts, { source: 'user', settings }, { isUntrustedAddress: true });
  const address = findLiteralAddress(settings);
  if (address !== undefined) await parts.checkAddress(address);
  return canProbe(settings) ? parts.inspect(server) : null;
}

/** A definition as the thing that is looked at, before it is one that the registry knows. */
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
  // A server of a user is never shared; `scopeOf` says so, and this holds it to its word.
  if (!snapshot.ok || snapshot.server.scope !== 'user') throw new GatewayError('MCP_CONFIG_INVALID');
  return snapshot.server;
}

/** One that waits for a sign-in or for a user's own value has nothing to present yet; an OBO server is never probed. */
function canProbe(settings: ServerSettings): boolean {
  return !usesObo(settings) && !needsOAuth(settings) && listDeclaredVariables(settings).length === 0;
}

/** Undefined when a value of a user chooses the host: such an address is judged with each request. */
function findLiteralAddress(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  const { url } = settings;
  const literal = readLiteralText(url);
  if (literal !== undefined) return literal;
  const [firstPart] = url;
  const text = firstPart?.kind === 'literal' ? firstPart.text : '';
  return /^[a-z]+:\/\/[^/?#]+[/?#]/i.test(text) ? new URL(text).origin : undefined;
}

type TargetParts = Pick<ConfigureParts, 'oboTargets' | 'isPlainHttpAllowed'>;

/**
 * Whether what users bring may go where this definition leads. Asked before anything is stored or opened; what is
 * exchanged is asked about again before each exchange, because the operator may have changed their mind since.
 */
export function requireSafeTarget(
  { oboTargets, isPlainHttpAllowed }: TargetParts,
  server: OboCandidate,
  { isUntrustedAddress }: { readonly isUntrustedAddress: boolean },
): void {
  const problem = oboTargets.findProblem(server);
  // Without a provider nothing can be exchanged yet. The definition may wait for one.
  if (problem && problem.code !== NO_PROVIDER) throw createConfigError([problem]);
  const address =
    isUntrustedAddress && sendsUserValues(server.settings) ? fillSampleValues(server.settings) : undefined;
  if (address === undefined || !isUnencryptedRemote(address) || isPlainHttpAllowed(address)) return;
  throw createConfigError([
    createFinding(
      ['url'],
      'plain_http',
      'must use https: over http, user values and tokens could be read in transit',
      'use https, or have the operator list it with http:// in mcpSettings.allowedDomains',
    ),
  ]);
}

function sendsUserValues(settings: ServerSettings): boolean {
  return listDeclaredVariables(settings).length > 0 || needsOAuth(settings);
}

/** With a word in the place of what users choose: none of it decides about the scheme. */
function fillSampleValues(settings: ServerSettings): string | undefined {
  if (settings.type === 'stdio') return undefined;
  return settings.url.map((part) => (part.kind === 'literal' ? part.text : 'value')).join('');
}

const MAX_DEFINITION_BYTES = 64 * 1024;
const MAX_HEADERS = 50;
const MAX_HEADER_LENGTH = 8 * 1024;
const MAX_URL_LENGTH = 2 * 1024;
const MAX_TITLE_LENGTH = 100;
const MAX_DESCRIPTION_LENGTH = 4_096;
/** A definition is flat; what is nested deeper is somebody looking for the end of our stack. */
const MAX_DEPTH = 5;

/** What a user sent, as a definition that can be stored: or MCP_CONFIG_INVALID with every field that is wrong. */
export function compileInput(name: string, definition: Fields): ServerSettings {
  const sizeFindings = findSizeProblems(definition);
  if (sizeFindings.length > 0) throw createConfigError(sizeFindings);
  const compiled = compileStored(name, definition);
  if (compiled.ok) return compiled.server;
  // The name is ours, and users know the field as what they sent it as.
  throw createConfigError(compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: path.slice(2) })));
}

/** Enough to act on; a body full of mistakes must not become an answer many times its size. */
const MAX_ERRORS = 50;

/** Also for other code that finds something wrong with what a user sent. */
export function createConfigError(findings: readonly Finding[]): GatewayError {
  return new GatewayError('MCP_CONFIG_INVALID', {
    errors: findings
      .slice(0, MAX_ERRORS)
      .map(({ path, ...rest }) => ({ ...rest, path: formatPath(['config', ...path]) })),
  });
}

/** Before anything walks it. */
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

/** `null` means "not there", as in a merge patch. */
export function withoutNulls(definition: Fields): Fields {
  return Object.fromEntries(
    Object.entries(definition).flatMap(([key, value]) => {
      if (value === null) return [];
      return [[key, isMapping(value) ? withoutNulls(value) : value]];
    }),
  );
}
