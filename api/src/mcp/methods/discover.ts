import { ENTERPRISE_MANAGED, tasksCapability, type JsonObject } from '@behalf/gateway';
import type { Method } from '../mcpRequest.ts';
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

export interface ServerInfoParts {
  readonly results: ResultJson;
  readonly info: ServerInfo;
  readonly instructions: Instructions;
  /** Whether an identity provider may vouch for its users at our own authorization server. */
  readonly acceptsIdJags: boolean;
}

/** How a modern client finds out what is here. Another user may be told something else. */
export function discoverMethod({ results, instructions, acceptsIdJags }: ServerInfoParts): Method {
  const { extensions } = tasksCapability as { extensions: JsonObject };
  const allExtensions = acceptsIdJags ? { ...extensions, [ENTERPRISE_MANAGED]: {} } : extensions;
  return (mcpRequest) => {
    const text = instructions(mcpRequest.caller, mcpRequest.endpoint);
    return results.fromGateway('modern', {
      supportedVersions: [MODERN_VERSION],
      capabilities: { ...serverCapabilities, extensions: allExtensions },
      ...(text !== undefined && { instructions: text }),
      ttlMs: 0,
      cacheScope: 'private',
    });
  };
}
