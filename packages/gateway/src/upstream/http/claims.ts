import type { Era, ServerClaims } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isObject } from './readAnswer.ts';

const LONGEST_NAME = 256;
const LONGEST_INSTRUCTIONS = 32_768;
const LONGEST_CAPABILITIES = 65_536;

interface Said {
  readonly serverInfo: unknown;
  readonly capabilities: unknown;
  readonly instructions: unknown;
}

/** What a server says of itself, cut to a size that every idle connection can keep. */
export function readClaims(era: Era, protocolVersion: string, said: Said): ServerClaims {
  const info = isObject(said.serverInfo) ? said.serverInfo : {};
  const capabilities = isObject(said.capabilities) ? said.capabilities : {};
  const text = JSON.stringify(capabilities);
  if (text.length > LONGEST_CAPABILITIES) throw new UpstreamError('garbage');
  return {
    era,
    protocolVersion: cut(protocolVersion, LONGEST_NAME) ?? '',
    name: cut(info['name'], LONGEST_NAME) ?? '',
    version: cut(info['version'], LONGEST_NAME) ?? '',
    instructions: cut(said.instructions, LONGEST_INSTRUCTIONS),
    capabilities: JSON.parse(text) as ServerClaims['capabilities'],
  };
}

/** A copy: a part of a string keeps the whole of it in memory. */
function cut(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' ? Buffer.from(value.slice(0, longest)).toString() : undefined;
}
