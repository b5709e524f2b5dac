import type { UpstreamResponse, JsonObject } from '@behalf/gateway';
import { isObject } from './message.ts';
import type { LegacyVersion } from './versions.ts';

/** The first revision that has each kind of content; the others were there from the beginning. */
const SINCE: Readonly<Record<string, LegacyVersion>> = { audio: '2025-03-26', resource_link: '2025-06-18' };
const ALL_KNOWN: LegacyVersion = '2025-06-18';

/**
 * What a server answered, in kinds of content that the client's revision has: clients check the kind, and refuse a whole result
 * for one that they do not know. In its place stands a text that says what it was. Members that are new since are left: whoever
 * does not know them does not read them.
 */
export function knownContent(answer: UpstreamResponse, version: string): UpstreamResponse {
  if (version >= ALL_KNOWN) return answer;
  const { content, messages } = answer.result;
  const isNew = (block: unknown) => isUnknown(block, version);
  if (Array.isArray(content) && content.some(isNew)) {
    return changed(answer, {
      content: content.map((block: unknown) => (isNew(block) ? told(block) : block)),
    });
  }
  if (Array.isArray(messages) && messages.some((message) => isObject(message) && isNew(message['content']))) {
    return changed(answer, {
      messages: messages.map((message: unknown) =>
        isObject(message) && isNew(message['content'])
          ? { ...message, content: told(message['content']) }
          : message,
      ),
    });
  }
  return answer;
}

function isUnknown(block: unknown, version: string): boolean {
  if (!isObject(block) || typeof block['type'] !== 'string') return false;
  const since = Object.hasOwn(SINCE, block['type']) ? SINCE[block['type']] : undefined;
  return since !== undefined && version < since;
}

function changed({ result, ...rest }: UpstreamResponse, members: JsonObject): UpstreamResponse {
  return { ...rest, result: { ...result, ...members }, json: undefined };
}

/** A link is all in its text; what was said aloud is not. */
function told(block: unknown): JsonObject {
  const { type, annotations, mimeType, uri, name, title, description } = isObject(block) ? block : {};
  const kind = typeof mimeType === 'string' ? ` (${mimeType})` : '';
  const said = [title ?? name, uri, description].filter((word) => typeof word === 'string' && word !== '');
  const text =
    type === 'audio'
      ? `[Audio${kind}, which this client's revision of MCP has no form for]`
      : `[Link to a resource${kind}: ${said.join(', ')}]`;
  return { type: 'text', text, ...(annotations !== undefined && { annotations }) };
}
