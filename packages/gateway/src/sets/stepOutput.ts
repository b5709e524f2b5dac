import type { JsonObject } from '../upstream/upstream.ts';

/** What later steps take from: the structured content, else what the text says as JSON object or list, else the text. */
export function readStepOutput(result: JsonObject): unknown {
  const { structuredContent, content } = result;
  if (structuredContent !== undefined) return structuredContent;
  const texts = (Array.isArray(content) ? content : []).flatMap((item: unknown) => {
    const { type, text } = (item ?? {}) as { type?: unknown; text?: unknown };
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  const text = texts.join('\n');
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

const ARRAY_INDEX = /^(0|[1-9][0-9]*)$/;

/** RFC 6901; undefined when nothing stands there. Only what is the document's own: no name leads into what objects inherit. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      if (!ARRAY_INDEX.test(name)) return undefined;
      value = value[Number(name)] as unknown;
    } else {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as JsonObject)[name];
    }
  }
  return value;
}
