import { errorKinds, type ChatCall, type ChatProblem, type ErrorCode } from '@behalf/contracts';
import type { Random } from '@behalf/kernel';
import type { WantedCall } from '../model/model.ts';
import type { OfferedTools } from './offeredTools.ts';

/** A call as it is shown, before anything is done. One that cannot be made is told to the model, which can do better. */
export interface PreparedCall {
  readonly call: ChatCall;
  /** What the model reads instead of a result. */
  readonly refusal: string | undefined;
}

const LONGEST_NAME = 200;

/** What the calls of one answer may still send in arguments, in characters. */
export interface ArgumentRoom {
  left: number;
}

export function prepareCall(
  { name, args: text }: WantedCall,
  tools: Pick<OfferedTools, 'find'>,
  random: Random,
  room: ArgumentRoom,
): PreparedCall {
  const offered = tools.find(name);
  const call: ChatCall = {
    callId: newCallId(random),
    ...(offered ?? { server: '', serverTitle: '', tool: name.slice(0, LONGEST_NAME) }),
    arguments: {},
    state: 'running',
  };
  if (room.left < text.length) {
    return refused(
      call,
      'MCP_ARGUMENTS_INVALID',
      'This answer has sent more in arguments than it may. Send less, or answer with what you have.',
    );
  }
  room.left -= text.length;
  const args = readArguments(text);
  if (args) call.arguments = args;
  if (!offered) {
    return refused(
      call,
      'MCP_TOOL_NOT_FOUND',
      'There is no tool of this name. Use one of those you were given.',
    );
  }
  if (!args) {
    return refused(
      call,
      'MCP_ARGUMENTS_INVALID',
      'The arguments are no JSON object, or name one `__proto__`. Send them as one without it.',
    );
  }
  return { call, refusal: undefined };
}

function refused(call: ChatCall, code: ErrorCode, refusal: string): PreparedCall {
  const problem: ChatProblem = { code, title: errorKinds[code].title, detail: refusal };
  return { call: { ...call, state: 'failed', problem }, refusal };
}

/** Whoever copies the arguments by assignment would change what an object is, and not the argument. */
function checkName(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('No name of an argument');
  return value;
}

/** Models send nothing at all where there are no arguments. */
function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text, checkName);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Mistral takes no id of another form. It tells calls of one conversation apart, and opens nothing. */
const ID_LENGTH = 9;

function newCallId(random: Random): string {
  return Array.from(random.bytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
