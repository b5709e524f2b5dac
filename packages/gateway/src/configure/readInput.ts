import { formatPath, createFinding, type Finding } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { toFields, isMapping, type Fields } from '../registry/canonicalFields.ts';
import { compileStored } from '../registry/storedDefinition.ts';

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
