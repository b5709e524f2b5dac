/** The revision without sessions. */
export const MODERN_VERSION = '2026-07-28';

/** Those with sessions, the newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type LegacyVersion = (typeof legacyVersions)[number];

/** What is assumed of a client that sends no version header: the last revision that had none. */
export const DEFAULT_VERSION: LegacyVersion = '2025-03-26';

/** The one revision with several messages in one body. */
export const BATCH_VERSION: LegacyVersion = '2025-03-26';

/** The first with sign-ins by address: `elicitation.url` and -32042. */
export const URL_ELICITATION_VERSION: LegacyVersion = '2025-11-25';

export function isLegacyVersion(version: string): version is LegacyVersion {
  return (legacyVersions as readonly string[]).includes(version);
}

/** Revisions are dates: whatever comes after the last legacy one is of the modern era, known to us or not. */
export function isModernVersion(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION;
}

const MCP_PREFIX = 'io.modelcontextprotocol/';

/** Where modern messages say what used to be said once for a session. */
export const metaKey = {
  version: `${MCP_PREFIX}protocolVersion`,
  capabilities: `${MCP_PREFIX}clientCapabilities`,
  clientInfo: `${MCP_PREFIX}clientInfo`,
  logLevel: `${MCP_PREFIX}logLevel`,
  serverInfo: `${MCP_PREFIX}serverInfo`,
  subscription: `${MCP_PREFIX}subscriptionId`,
} as const;
