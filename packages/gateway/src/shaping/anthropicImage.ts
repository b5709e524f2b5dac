import { AnthropicImageType, type AnthropicContent, type Attachment } from '@behalf/contracts';

export type { AnthropicContent };

/** The Messages API refuses a larger image, and with it the whole conversation. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An image block, for an image or a blob of a type that the Messages API takes; undefined for everything else. */
export function toAnthropicImage(
  { mimeType, bytes }: Attachment,
  data: string,
): AnthropicContent | undefined {
  const type = AnthropicImageType.safeParse(mimeType?.toLowerCase());
  if (!type.success || bytes === undefined || bytes > MAX_IMAGE_BYTES || !BASE64.test(data)) return undefined;
  return { type: 'image', source: { type: 'base64', media_type: type.data, data } };
}
