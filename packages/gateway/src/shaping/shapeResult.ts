import type { AnthropicResult, Attachment, OpenAiResult, RawResult, ResultFormat } from '@behalf/contracts';
import type { JsonObject } from '../upstream/upstream.ts';
import { toAnthropicImage, type AnthropicContent } from './anthropicImage.ts';
import { parseContentBlock } from './contentBlock.ts';
import { describeAttachment } from './describeAttachment.ts';
import { toStructuredText } from './structuredText.ts';

interface ResultShapes {
  raw: RawResult;
  openai: OpenAiResult;
  anthropic: AnthropicResult;
}

const EMPTY_RESULT_TEXT = 'The tool returned no content.';

/**
 * A tool's result in the form that a model's API takes. What that form cannot hold is named in the text and stands in
 * `attachments`; nothing is dropped, and no payload becomes text.
 */
export function shapeResult<F extends ResultFormat>(result: JsonObject, format: F): ResultShapes[F];
export function shapeResult(result: JsonObject, format: ResultFormat): ResultShapes[ResultFormat] {
  if (format === 'raw')
    return { ...result, content: listContentItems(result), isError: result['isError'] === true };
  return format === 'openai' ? toOpenAiResult(result) : toAnthropicResult(result);
}

function toOpenAiResult(result: JsonObject): OpenAiResult {
  const { contentBlocks, commonFields } = collectContent(result, () => undefined);
  const texts = contentBlocks.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts.join('\n\n') || EMPTY_RESULT_TEXT;
  // A tool message has no field that says so.
  const content = commonFields.isError ? `The tool reported an error:\n${text}` : text;
  return { format: 'openai', message: { role: 'tool', content }, ...commonFields };
}

function toAnthropicResult(result: JsonObject): AnthropicResult {
  // The Messages API takes nothing but text in a result that is an error.
  const toImage = result['isError'] === true ? () => undefined : toAnthropicImage;
  const { contentBlocks, commonFields } = collectContent(result, toImage);
  const content: AnthropicContent[] =
    contentBlocks.length > 0 ? contentBlocks : [{ type: 'text', text: EMPTY_RESULT_TEXT }];
  return {
    format: 'anthropic',
    block: { type: 'tool_result', content, is_error: commonFields.isError },
    ...commonFields,
  };
}

type ImageConverter = (attachment: Attachment, data: string) => AnthropicContent | undefined;

function collectContent(result: JsonObject, toImage: ImageConverter) {
  const contentBlocks: AnthropicContent[] = [];
  const attachments: Attachment[] = [];
  // An empty text block is refused by the Messages API and says nothing.
  const addText = (text: string) => text.trim() !== '' && contentBlocks.push({ type: 'text', text });
  const texts: string[] = [];
  for (const item of listContentItems(result)) {
    const block = parseContentBlock(item);
    if (block.kind === 'inline') {
      texts.push(block.text);
      addText(block.text);
      continue;
    }
    const image = block.data === undefined ? undefined : toImage(block.attachment, block.data);
    // An image block has no place for where it came from.
    if (image && block.attachment.uri !== undefined) addText(`Resource ${block.attachment.uri}:`);
    if (image) contentBlocks.push(image);
    else addText(describeAttachment(block.attachment, attachments.push(block.attachment) - 1));
  }
  const { structuredContent, _meta } = result;
  addText(toStructuredText(structuredContent, texts) ?? '');
  const commonFields = {
    isError: result['isError'] === true,
    attachments,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isObject(_meta) && { _meta }),
  };
  return { contentBlocks, commonFields };
}

/** A result without a list of content holds none; a single block in its place is content all the same. */
function listContentItems({ content }: JsonObject): unknown[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content : [content];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
