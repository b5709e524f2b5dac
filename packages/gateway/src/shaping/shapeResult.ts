import type { AnthropicResult, Attachment, OpenAiResult, RawResult, ResultFormat } from '@behalf/contracts';
import type { Json } from '../upstream/upstream.ts';
import { anthropicImage, type AnthropicContent } from './anthropicImage.ts';
import { readBlock } from './contentBlock.ts';
import { describeAttachment } from './describeAttachment.ts';
import { structuredText } from './structuredText.ts';

interface Shapes {
  raw: RawResult;
  openai: OpenAiResult;
  anthropic: AnthropicResult;
}

const NOTHING = 'The tool returned no content.';

/**
 * A tool's result in the form that a model's API takes. What that form cannot hold is named in the text and stands in
 * `attachments`; nothing is dropped, and no payload becomes text.
 */
export function shapeResult<F extends ResultFormat>(result: Json, format: F): Shapes[F];
export function shapeResult(result: Json, format: ResultFormat): Shapes[ResultFormat] {
  if (format === 'raw') return { ...result, content: blocksOf(result), isError: result['isError'] === true };
  return format === 'openai' ? forOpenAi(result) : forAnthropic(result);
}

function forOpenAi(result: Json): OpenAiResult {
  const { parts, rest } = collect(result, () => undefined);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts.join('\n\n') || NOTHING;
  // A tool message has no field that says so.
  const content = rest.isError ? `The tool reported an error:\n${text}` : text;
  return { format: 'openai', message: { role: 'tool', content }, ...rest };
}

function forAnthropic(result: Json): AnthropicResult {
  // The Messages API takes nothing but text in a result that is an error.
  const image = result['isError'] === true ? () => undefined : anthropicImage;
  const { parts, rest } = collect(result, image);
  const content: AnthropicContent[] = parts.length > 0 ? parts : [{ type: 'text', text: NOTHING }];
  return { format: 'anthropic', block: { type: 'tool_result', content, is_error: rest.isError }, ...rest };
}

type ToImage = (attachment: Attachment, data: string) => AnthropicContent | undefined;

function collect(result: Json, toImage: ToImage) {
  const parts: AnthropicContent[] = [];
  const attachments: Attachment[] = [];
  // An empty text block is refused by the Messages API and says nothing.
  const say = (text: string) => text.trim() !== '' && parts.push({ type: 'text', text });
  const texts: string[] = [];
  for (const item of blocksOf(result)) {
    const block = readBlock(item);
    if (block.kind === 'inline') {
      texts.push(block.text);
      say(block.text);
      continue;
    }
    const image = block.data === undefined ? undefined : toImage(block.attachment, block.data);
    // An image block has no place for where it came from.
    if (image && block.attachment.uri !== undefined) say(`Resource ${block.attachment.uri}:`);
    if (image) parts.push(image);
    else say(describeAttachment(block.attachment, attachments.push(block.attachment) - 1));
  }
  const { structuredContent, _meta } = result;
  say(structuredText(structuredContent, texts) ?? '');
  const rest = {
    isError: result['isError'] === true,
    attachments,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isObject(_meta) && { _meta }),
  };
  return { parts, rest };
}

/** A result without a list of content holds none; a single block in its place is content all the same. */
function blocksOf({ content }: Json): unknown[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content : [content];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
