import { GatewayError } from '../errors/gatewayError.ts';

/** The version of a record as an entity tag (RFC 9110 section 8.8.3). */
export function toEtag(version: number): string {
  return `"${version}"`;
}

/**
 * The versions that a condition names (RFC 9110 section 13.1.1). Null: any will do, by `*` or because there is no
 * condition. A proxy that recompressed an answer has made its tag weak, so a weak one counts as well: it still names the
 * version that was read. What is no tag of ours names no version, and a condition may thus name none.
 */
export function parseIfMatch(ifMatch: string | undefined): readonly number[] | null {
  if (ifMatch === undefined) return null;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*')) return null;
  return tags.flatMap((tag) => /^(?:W\/)?"(0|[1-9]\d{0,14})"$/.exec(tag)?.[1] ?? []).map(Number);
}

/** Throws unless the condition is met by this version. */
export function requireIfMatch(ifMatch: string | undefined, version: number): void {
  const versions = parseIfMatch(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('MCP_VERSION_CONFLICT');
}
