import { ENTERPRISE_MANAGED, tasksCapability, type JsonObject } from '@behalf/gateway';
import type { Method } from '../asked.ts';
import type { Instructions } from '../instructions.ts';
import type { ResultJson, ServerInfo } from '../resultJson.ts';
import { MODERN_VERSION } from '../versions.ts';

/** What every endpoint can do; whether the servers behind it can is known when they are asked. */
export const serverCapabilities: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

export interface OpeningParts {
  readonly results: ResultJson;
  readonly info: ServerInfo;
  readonly instructions: Instructions;
  /** Whether an identity provider may vouch for its users at our own authorization server. */
  readonly takesIdJags: boolean;
}

/** How a modern client finds out what is here. Another user may be told something else. */
export function discoverMethod({ results, instructions, takesIdJags }: OpeningParts): Method {
  const { extensions } = tasksCapability as { extensions: JsonObject };
  const all = takesIdJags ? { ...extensions, [ENTERPRISE_MANAGED]: {} } : extensions;
  return (asked) => {
    const text = instructions(asked.caller, asked.endpoint);
    return results.own('modern', {
      supportedVersions: [MODERN_VERSION],
      capabilities: { ...serverCapabilities, extensions: all },
      ...(text !== undefined && { instructions: text }),
      ttlMs: 0,
      cacheScope: 'private',
    });
  };
}
