import { shapeResult, type JsonObject } from '@behalf/gateway';

/** What a model reads of a result: text of a bounded length, which stands in a tool's message and nowhere else. */
export function resultText(result: JsonObject, longest: number): string {
  return shortened(shapeResult(result, 'openai').message.content, longest);
}

export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}\n[Cut: ${text.length - longest} more characters]`;
}
