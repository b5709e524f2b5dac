import { shapeResult, type JsonObject } from '@behalf/gateway';

/** What a model reads of a result: text of a bounded length, which stands in a tool's message and nowhere else. */
export function toModelText(result: JsonObject, maxLength: number): string {
  return truncateWithNote(shapeResult(result, 'openai').message.content, maxLength);
}

export function truncateWithNote(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}\n[Truncated: ${text.length - maxLength} more characters]`;
}
