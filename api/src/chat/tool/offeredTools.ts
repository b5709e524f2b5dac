import { authorityOf, type CatalogTool, type ServerSnapshot, type ServerTools } from '@behalf/gateway';
import type { Authority } from '@behalf/contracts';
import { LARGEST_SCHEMA, LARGEST_TOOLS, LONGEST_DESCRIPTION, MOST_TOOLS } from '../limits.ts';
import type { ModelTool } from '../model/model.ts';

const LONGEST_TITLE = 200;

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
  readonly isCut: boolean;
  /** Names of servers that show nothing before the user has signed in there or filled something in. */
  readonly closed: readonly string[];
  /** By the name that models use. */
  readonly find: (publicName: string) => OfferedTool | undefined;
  /** The name towards the model of a tool that was called in an earlier answer. */
  readonly nameOf: (server: string, tool: string) => string;
}

/** What a server says of its tools is passed on as it is, within bounds: it is sent again with every question. */
export function offeredTools(listed: readonly ServerTools[]): OfferedTools {
  const tools: ModelTool[] = [];
  const found = new Map<string, OfferedTool>();
  const names = new Map<string, string>();
  let size = 0;
  let isCut = false;
  for (const { server, tools: own } of listed) {
    for (const tool of own) {
      const shown = modelTool(tool);
      size += JSON.stringify(shown).length;
      if (tools.length >= MOST_TOOLS || size > LARGEST_TOOLS) {
        isCut = true;
        break;
      }
      tools.push(shown);
      found.set(tool.publicName, offered(server, tool));
      names.set(JSON.stringify([server.name, tool.name]), tool.publicName);
    }
  }
  return {
    tools,
    isCut,
    closed: listed.filter(isClosed).map(({ server }) => plain(server.name)),
    find: (publicName) => found.get(publicName),
    nameOf: (server, tool) => names.get(JSON.stringify([server, tool])) ?? plainName(server, tool),
  };
}

function offered(server: ServerSnapshot, { name, title }: CatalogTool): OfferedTool {
  const { settings } = server;
  return {
    server: server.name,
    serverTitle: settings.title ?? server.name,
    tool: name,
    ...(title !== undefined && { toolTitle: title.slice(0, LONGEST_TITLE) }),
    authority: authorityOf(server),
  };
}

function modelTool({ publicName, description, title, inputSchema }: CatalogTool): ModelTool {
  const isLarge = JSON.stringify(inputSchema).length > LARGEST_SCHEMA;
  return {
    type: 'function',
    function: {
      name: publicName,
      description: (description ?? title ?? '').slice(0, LONGEST_DESCRIPTION),
      // One without `properties` is refused by OpenAI. A call that does not fit the real one is told what is wrong.
      parameters: { type: 'object', properties: {}, ...(!isLarge && inputSchema) },
    },
  };
}

/** Of the letters and length that APIs take. It opens nothing: a call is looked up among what is offered now. */
function plainName(server: string, tool: string): string {
  return plain(`${tool}_${server}`);
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function isClosed({ state, tools }: ServerTools): boolean {
  return tools.length === 0 && (state === 'needs_authorization' || state === 'needs_configuration');
}
