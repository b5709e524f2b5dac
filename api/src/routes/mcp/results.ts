import type { Era, JsonObject, UpstreamResponse } from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { type LegacyVersion, metaKey } from './era.ts';

/** `serverInfo`, which every modern result repeats. */
export interface ServerInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** Members of a result that only the modern era defines. */
const MODERN_MEMBERS = ['resultType', 'ttlMs', 'cacheScope'] as const;

export type ResultJson = ReturnType<typeof createResultJson>;

/** Serializes results for the era of the client. Reuses the text that the server sent where possible. */
export function createResultJson(info: ServerInfo) {
  const stamp = { [metaKey.serverInfo]: info };
  const stampText = `"_meta":${JSON.stringify(stamp)}}`;
  const tail = `"resultType":"complete",${stampText}`;

  /** Overwrites `resultType`: a legacy server may use a member of this name for something else. */
  function modern(result: JsonObject, kind = 'complete'): string {
    const { _meta } = result;
    return JSON.stringify({
      ...result,
      resultType: kind,
      _meta: { ...(isObject(_meta) && _meta), ...stamp },
    });
  }

  return {
    /** A result that the gateway produced. */
    fromGateway: (era: Era, result: JsonObject): string =>
      era === 'modern' ? modern(result) : JSON.stringify(result),
    /** Input that the client must provide before there is a result. Only in the modern era. */
    inputRequired: (result: JsonObject): string => modern(result, 'input_required'),
    /** A task instead of a result. Only in the modern era. */
    task: (result: JsonObject): string => modern(result, 'task'),
    fromServer(era: Era, { result, json }: UpstreamResponse): string {
      if (era === 'legacy') return legacyText(result, json);
      const { resultType } = result;
      const isComplete = resultType === 'complete';
      if (json === undefined || '_meta' in result || (!isComplete && 'resultType' in result))
        return modern(result);
      const head = json.slice(0, json.lastIndexOf('}'));
      if (isComplete) return `${head},${stampText}`;
      return `${head}${isEmpty(result) ? '' : ','}${tail}`;
    },
  };
}

/** Removes the members that only the modern era defines: strict legacy clients reject unknown members. */
function legacyText(result: JsonObject, json: string | undefined): string {
  const { _meta, structuredContent } = result;
  const isStamped = isObject(_meta) && metaKey.serverInfo in _meta;
  // Legacy revisions require an object. The modern era allows any JSON value.
  const hasNonObjectContent = structuredContent !== undefined && !isObject(structuredContent);
  if (!isStamped && !hasNonObjectContent && !MODERN_MEMBERS.some((member) => member in result))
    return json ?? JSON.stringify(result);
  const { resultType: _kind, ttlMs: _ttl, cacheScope: _scope, _meta: _said, ...rest } = result;
  return JSON.stringify({
    ...rest,
    // JSON.stringify leaves out undefined members.
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

/** The first revision of each content type. All other types exist since the first revision. */
const FIRST_VERSION: Readonly<Record<string, LegacyVersion>> = {
  audio: '2025-03-26',
  resource_link: '2025-06-18',
};
const COMPLETE_VERSION: LegacyVersion = '2025-06-18';

/**
 * Replaces content types that the client's revision does not define by a text that describes them. Clients reject a whole result
 * that contains an unknown content type. Unknown members remain: clients ignore them.
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

/** The text for a link contains all its fields. Audio data has no text form. */
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
