import {
  type Authority,
  type ChatCall,
  type ChatProblem,
  type ErrorCode,
  errorKinds,
} from '@behalf/contracts';
import { type CatalogTool, type ServerSnapshot, type ServerTools, authorityOf } from '@behalf/gateway';
import { type Random, isObject } from '@behalf/kernel';
import {
  MAX_MODEL_TOOLS,
  MAX_TOOLS_LENGTH,
  MAX_TOOL_DESCRIPTION_LENGTH,
  MAX_TOOL_SCHEMA_LENGTH,
} from './limits.ts';
import type { ModelTool, RequestedCall } from './modelClient.ts';

const MAX_TITLE_LENGTH = 200;

/** A tool that the model may call, with the fields that describe its calls to the client. */
interface OfferedTool {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle?: string;
  readonly authority: Authority;
}

export interface OfferedTools {
  readonly tools: readonly ModelTool[];
  /** The user has more tools than a model request may contain. */
  readonly isTruncated: boolean;
  /** Servers that list no tools until the user signs in or enters the required values. */
  readonly unavailableServers: readonly string[];
  /** Finds a tool by its public name. */
  readonly find: (publicName: string) => OfferedTool | undefined;
  /** The public name of a tool that an earlier answer called. */
  readonly nameOf: (server: string, tool: string) => string;
}

/** Chooses the tools of a model request. Descriptions and schemas are limited in size: every round sends them again. */
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
    nameOf: (server, tool) => names.get(JSON.stringify([server, tool])) ?? sanitizeName(`${tool}_${server}`),
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
      // OpenAI rejects a schema without `properties`. If the schema is left out, argument validation tells the model what is wrong.
      parameters: { type: 'object', properties: {}, ...(!isLarge && inputSchema) },
    },
  };
}

/** Limits a name to the characters and the length that model APIs accept. */
export function sanitizeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function isUnavailable({ state, tools }: ServerTools): boolean {
  return tools.length === 0 && (state === 'needs_authorization' || state === 'needs_configuration');
}

/** A requested call before it runs. The model receives the reason why a call cannot run, and can correct it. */
export interface PreparedCall {
  readonly call: ChatCall;
  /** The text that replaces the result for the model. Undefined if the call can run. */
  readonly errorText: string | undefined;
}

const MAX_NAME_LENGTH = 200;

/** Characters of arguments that the calls of one answer may still use. */
export interface ArgumentBudget {
  remaining: number;
}

export function prepareCall(
  { name, args: text }: RequestedCall,
  tools: Pick<OfferedTools, 'find'>,
  random: Random,
  budget: ArgumentBudget,
): PreparedCall {
  const tool = tools.find(name);
  const call: ChatCall = {
    callId: newCallId(random),
    ...(tool ?? { server: '', serverTitle: '', tool: name.slice(0, MAX_NAME_LENGTH) }),
    arguments: {},
    state: 'running',
  };
  if (budget.remaining < text.length) {
    return rejectCall(
      call,
      'MCP_ARGUMENTS_INVALID',
      'The arguments in this answer exceed the limit. Send less, or answer with the results so far.',
    );
  }
  budget.remaining -= text.length;
  const args = readArguments(text);
  if (args) call.arguments = args;
  if (!tool) {
    return rejectCall(
      call,
      'MCP_TOOL_NOT_FOUND',
      'There is no tool with this name. Use one of the tools you were given.',
    );
  }
  if (!args) {
    return rejectCall(
      call,
      'MCP_ARGUMENTS_INVALID',
      'The arguments are not a JSON object, or contain the key `__proto__`. Send a JSON object without this key.',
    );
  }
  return { call, errorText: undefined };
}

function rejectCall(call: ChatCall, code: ErrorCode, errorText: string): PreparedCall {
  const problem: ChatProblem = { code, title: errorKinds[code].title, detail: errorText };
  return { call: { ...call, state: 'failed', problem }, errorText };
}

/** Prevents prototype pollution: code that copies arguments by assignment would set the prototype. */
function rejectProtoKey(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('Invalid argument name');
  return value;
}

/** Models send an empty text for a call without arguments. */
function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text, rejectProtoKey);
    return isObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Mistral accepts only ids of nine alphanumeric characters. The id distinguishes calls of one conversation and is no secret. */
const ID_LENGTH = 9;

function newCallId(random: Random): string {
  return Array.from(random.bytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
