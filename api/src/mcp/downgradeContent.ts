import type { UpstreamResponse, JsonObject } from '@behalf/gateway';
import { isObject } from './rpcMessage.ts';
import type { LegacyVersion } from './versions.ts';

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
