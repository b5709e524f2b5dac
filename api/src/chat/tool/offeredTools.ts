import { authorityOf, type CatalogTool, type ServerSnapshot, type ServerTools } from '@behalf/gateway';
import type { Authority } from '@behalf/contracts';
import {
  MAX_TOOL_SCHEMA_LENGTH,
  MAX_TOOLS_LENGTH,
  MAX_TOOL_DESCRIPTION_LENGTH,
  MAX_MODEL_TOOLS,
} from '../limits.ts';
import type { ModelTool } from '../model/model.ts';

const MAX_TITLE_LENGTH = 200;

/** A tool that the model was shown, with what is told about its calls. */
export interface OfferedTool {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle?: string;
  readonly authority: Authority;
}

export interface OfferedTools {
  readonly tools: readonly ModelTool[];
  /** The user has more than a model can be shown. */
  readonly isTruncated: boolean;
  /** Names of servers that show nothing before the user has signed in there or filled something in. */
  readonly unavailableServers: readonly string[];
  /** By the name that models use. */
  readonly find: (publicName: string) => OfferedTool | undefined;
  /** The name towards the model of a tool that was called in an earlier answer. */
  readonly nameOf: (server: string, tool: string) => string;
}

/** What a server says of its tools is passed on as it is, within bounds: it is sent again with every question. */
export function selectOfferedTools(toolsByServer: readonly ServerTools[]): OfferedTools {
  const tools: ModelTool[] = [];
  const byPublicName = new Map<string, OfferedTool>();
  const names = new Map<string, string>();
  let size = 0;
  let isTruncated = false;
  for (const { server, tools: serverTools } of toolsByServer) {
    for (const tool of serverTools) {
      const converted = modelTool(tool);
      size += JSON.stringify(converted).length;
      if (tools.length >= MAX_MODEL_TOOLS || size > MAX_TOOLS_LENGTH) {
        isTruncated = true;
        break;
      }
      tools.push(converted);
      byPublicName.set(tool.publicName, toOfferedTool(server, tool));
      names.set(JSON.stringify([server.name, tool.name]), tool.publicName);
    }
  }
  return {
    tools,
    isTruncated,
    unavailableServers: toolsByServer.filter(isUnavailable).map(({ server }) => sanitizeName(server.name)),
    find: (publicName) => byPublicName.get(publicName),
    nameOf: (server, tool) => names.get(JSON.stringify([server, tool])) ?? fallbackName(server, tool),
  };
}

function toOfferedTool(server: ServerSnapshot, { name, title }: CatalogTool): OfferedTool {
  const { settings } = server;
  return {
    server: server.name,
    serverTitle: settings.title ?? server.name,
    tool: name,
    ...(title !== undefined && { toolTitle: title.slice(0, MAX_TITLE_LENGTH) }),
    authority: authorityOf(server),
  };
}

function modelTool({ publicName, description, title, inputSchema }: CatalogTool): ModelTool {
  const isLarge = JSON.stringify(inputSchema).length > MAX_TOOL_SCHEMA_LENGTH;
  return {
    type: 'function',
    function: {
      name: publicName,
      description: (description ?? title ?? '').slice(0, MAX_TOOL_DESCRIPTION_LENGTH),
      // One without `properties` is refused by OpenAI. A call that does not fit the real one is told what is wrong.
      parameters: { type: 'object', properties: {}, ...(!isLarge && inputSchema) },
    },
  };
}

/** Of the letters and length that APIs take. It opens nothing: a call is looked up among what is offered now. */
function fallbackName(server: string, tool: string): string {
  return sanitizeName(`${tool}_${server}`);
}

function sanitizeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function isUnavailable({ state, tools }: ServerTools): boolean {
  return tools.length === 0 && (state === 'needs_authorization' || state === 'needs_configuration');
}
