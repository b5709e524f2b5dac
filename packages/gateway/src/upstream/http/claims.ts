import type { Era, ServerClaims } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isObject } from './readResponse.ts';

const MAX_NAME_LENGTH = 256;
const MAX_INSTRUCTIONS_LENGTH = 32_768;
const MAX_CAPABILITIES_LENGTH = 65_536;

interface ReportedInfo {
  readonly serverInfo: unknown;
  readonly capabilities: unknown;
  readonly instructions: unknown;
}

/** What a server says of itself, cut to a size that every idle connection can keep. */
export function readClaims(era: Era, protocolVersion: string, reported: ReportedInfo): ServerClaims {
  const info = isObject(reported.serverInfo) ? reported.serverInfo : {};
  const capabilities = isObject(reported.capabilities) ? reported.capabilities : {};
  const text = JSON.stringify(capabilities);
  if (text.length > MAX_CAPABILITIES_LENGTH) throw new UpstreamError('invalid_response');
  return {
    era,
    protocolVersion: truncate(protocolVersion, MAX_NAME_LENGTH) ?? '',
    name: truncate(info['name'], MAX_NAME_LENGTH) ?? '',
    version: truncate(info['version'], MAX_NAME_LENGTH) ?? '',
    instructions: truncate(reported.instructions, MAX_INSTRUCTIONS_LENGTH),
    capabilities: JSON.parse(text) as ServerClaims['capabilities'],
  };
}

/** A copy: a part of a string keeps the whole of it in memory. */
function truncate(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' ? Buffer.from(value.slice(0, maxLength)).toString() : undefined;
}
