import { formatPath, finding, type Finding } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { GatewayError } from '../errors/gatewayError.ts';
import { fieldsOf, isMapping, type Fields } from '../registry/canonical.ts';
import { compileStored } from '../registry/storedDefinition.ts';

const LONGEST_DEFINITION = 64 * 1024;
const MOST_HEADERS = 50;
const LONGEST_HEADER = 8 * 1024;
const LONGEST_URL = 2 * 1024;
const LONGEST_TITLE = 100;
const LONGEST_DESCRIPTION = 4_096;
/** A definition is flat; what is nested deeper is somebody looking for the end of our stack. */
const DEEPEST = 5;

/** What a user sent, as a definition that can be stored: or MCP_CONFIG_INVALID with every field that is wrong. */
export function readInput(name: string, definition: Fields): ServerSettings {
  const tooLarge = sizeProblems(definition);
  if (tooLarge.length > 0) throw invalid(tooLarge);
  const compiled = compileStored(name, definition);
  if (compiled.ok) return compiled.server;
  // The name is ours, and users know the field as what they sent it as.
  throw invalid(compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: path.slice(2) })));
}

/** Enough to act on; a body full of mistakes must not become an answer many times its size. */
const MOST_ERRORS = 50;

/** Also for other code that finds something wrong with what a user sent. */
export function invalid(findings: readonly Finding[]): GatewayError {
  return new GatewayError('MCP_CONFIG_INVALID', {
    errors: findings
      .slice(0, MOST_ERRORS)
      .map(({ path, ...rest }) => ({ ...rest, path: formatPath(['config', ...path]) })),
  });
}

/** Before anything walks it. */
export function requireFlat(definition: unknown): void {
  if (isDeeper(definition, DEEPEST)) throw invalid([finding([], 'too_deep', 'is nested too deep')]);
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((item) => isDeeper(item, left - 1));
}

function sizeProblems(definition: Fields): Finding[] {
  const problems: Finding[] = [];
  const atMost = (size: number, most: number, path: readonly string[], unit: string): void => {
    if (size > most) problems.push(finding(path, 'too_long', `may have at most ${most} ${unit}`));
  };
  const text = (value: unknown, most: number, path: readonly string[]): void => {
    if (typeof value === 'string') atMost(value.length, most, path, 'characters');
  };
  atMost(Buffer.byteLength(JSON.stringify(definition)), LONGEST_DEFINITION, [], 'bytes');
  text(definition['url'], LONGEST_URL, ['url']);
  text(definition['title'], LONGEST_TITLE, ['title']);
  text(definition['description'], LONGEST_DESCRIPTION, ['description']);
  const headers = Object.entries(fieldsOf(definition['headers']));
  atMost(headers.length, MOST_HEADERS, ['headers'], 'entries');
  for (const [name, value] of headers) text(value, LONGEST_HEADER, ['headers', name]);
  for (const [name, value] of Object.entries(fieldsOf(definition['oauth']))) {
    text(value, LONGEST_HEADER, ['oauth', name]);
  }
  text(fieldsOf(definition['apiKey'])['key'], LONGEST_HEADER, ['apiKey', 'key']);
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
