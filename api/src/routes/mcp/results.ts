import type { Era, JsonObject, UpstreamResponse } from '@behalf/gateway';
import { type LegacyVersion, metaKey } from './era.ts';
import { isObject } from './rpc.ts';

/** Who answers: in the modern era each result says so. */
export interface ServerInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** What only the modern era knows of a result. */
const MODERN_MEMBERS = ['resultType', 'ttlMs', 'cacheScope'] as const;

/** Writes results as the era of the client has them. A server's own text is passed on wherever that is possible. */
export interface ResultJson {
  /** A result of our own. */
  fromGateway(era: Era, result: JsonObject): string;
  /** What a server answered. */
  fromServer(era: Era, response: UpstreamResponse): string;
  /** What the client's user is asked before it can be answered. Of the modern era alone. */
  inputRequired(result: JsonObject): string;
  /** A task that stands for the result until there is one. Of the modern era alone. */
  task(result: JsonObject): string;
}

export function createResultJson(info: ServerInfo): ResultJson {
  const stamp = { [metaKey.serverInfo]: info };
  const stampText = `"_meta":${JSON.stringify(stamp)}}`;
  const tail = `"resultType":"complete",${stampText}`;

  /** Of which kind it is, we say: a server of the other era may have a member of this name for something else. */
  function modern(result: JsonObject, kind = 'complete'): string {
    const { _meta } = result;
    return JSON.stringify({
      ...result,
      resultType: kind,
      _meta: { ...(isObject(_meta) && _meta), ...stamp },
    });
  }

  return {
    fromGateway: (era, result) => (era === 'modern' ? modern(result) : JSON.stringify(result)),
    inputRequired: (result) => modern(result, 'input_required'),
    task: (result) => modern(result, 'task'),
    fromServer(era, { result, json }) {
      if (era === 'legacy') return legacyText(result, json);
      const { resultType } = result;
      const isComplete = resultType === 'complete';
      if (json === undefined || '_meta' in result || (!isComplete && 'resultType' in result))
        return modern(result);
      const head = json.slice(0, json.lastIndexOf('}'));
      // A server of this era has said of which kind it is.
      if (isComplete) return `${head},${stampText}`;
      return `${head}${isEmpty(result) ? '' : ','}${tail}`;
    },
  };
}

/** Without what is new since, so that a client that counts members finds what it knows. */
function legacyText(result: JsonObject, json: string | undefined): string {
  const { _meta, structuredContent } = result;
  const isStamped = isObject(_meta) && metaKey.serverInfo in _meta;
  // Anything may stand there in the modern era; before it was an object.
  const hasNonObjectContent = structuredContent !== undefined && !isObject(structuredContent);
  if (!isStamped && !hasNonObjectContent && !MODERN_MEMBERS.some((member) => member in result))
    return json ?? JSON.stringify(result);
  const { resultType: _kind, ttlMs: _ttl, cacheScope: _scope, _meta: _said, ...rest } = result;
  return JSON.stringify({
    ...rest,
    // Undefined is not written.
    ...(hasNonObjectContent && { structuredContent: undefined }),
    _meta: isStamped ? withoutStamp(_meta) : _meta,
  });
}

function withoutStamp({ [metaKey.serverInfo]: _, ...rest }: JsonObject): JsonObject | undefined {
  return isEmpty(rest) ? undefined : rest;
}

function isEmpty(result: JsonObject): boolean {
  for (const _key in result) return false;
  return true;
}

/** The first revision that has each kind of content; the others were there from the beginning. */
const FIRST_VERSION: Readonly<Record<string, LegacyVersion>> = {
  audio: '2025-03-26',
  resource_link: '2025-06-18',
};
const COMPLETE_VERSION: LegacyVersion = '2025-06-18';

/**
 * What a server answered, in kinds of content that the client's revision has: clients check the kind, and refuse a whole result
 * for one that they do not know. In its place stands a text that says what it was. Members that are new since are left: whoever
 * does not know them does not read them.
 */
export function downgradeContent(response: UpstreamResponse, version: string): UpstreamResponse {
  if (version >= COMPLETE_VERSION) return response;
  const { content, messages } = response.result;
  const isUnsupported = (block: unknown) => isUnsupportedContent(block, version);
  if (Array.isArray(content) && content.some(isUnsupported)) {
    return withMembers(response, {
      content: content.map((block: unknown) => (isUnsupported(block) ? toTextContent(block) : block)),
    });
  }
  if (
    Array.isArray(messages) &&
    messages.some((message) => isObject(message) && isUnsupported(message['content']))
  ) {
    return withMembers(response, {
      messages: messages.map((message: unknown) =>
        isObject(message) && isUnsupported(message['content'])
          ? { ...message, content: toTextContent(message['content']) }
          : message,
      ),
    });
  }
  return response;
}

function isUnsupportedContent(block: unknown, version: string): boolean {
  if (!isObject(block) || typeof block['type'] !== 'string') return false;
  const since = Object.hasOwn(FIRST_VERSION, block['type']) ? FIRST_VERSION[block['type']] : undefined;
  return since !== undefined && version < since;
}

function withMembers({ result, ...rest }: UpstreamResponse, members: JsonObject): UpstreamResponse {
  return { ...rest, result: { ...result, ...members }, json: undefined };
}

/** A link is all in its text; what was said aloud is not. */
function toTextContent(block: unknown): JsonObject {
  const { type, annotations, mimeType, uri, name, title, description } = isObject(block) ? block : {};
  const kind = typeof mimeType === 'string' ? ` (${mimeType})` : '';
  const fields = [title ?? name, uri, description].filter((word) => typeof word === 'string' && word !== '');
  const text =
    type === 'audio'
      ? `[Audio${kind}, not supported by the MCP revision of this client]`
      : `[Link to a resource${kind}: ${fields.join(', ')}]`;
  return { type: 'text', text, ...(annotations !== undefined && { annotations }) };
}
