import type { DiscoveredTool } from '@behalf/contracts';
import type { ItemList } from '../catalog/listAll.ts';
import { isMapping } from '../registry/canonicalFields.ts';
import { redactSecrets } from '../toolcall/maskSecrets.ts';
import type { JsonObject } from '../upstream/upstream.ts';

const MAX_TOOLS = 500;
const MAX_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_SCHEMA_LENGTH = 32 * 1024;
/** Of all schemas together: an answer that somebody waits for, from a server that nobody vouches for. */
const MAX_TOTAL_SCHEMA_LENGTH = 1024 * 1024;

/**
 * The tools of a server that nobody saved, within bounds, and without what it was shown to let us in: a server that repeats a key or a
 * token has it repeated to nobody.
 */
export function toDiscoveredTools(
  { items, complete }: Pick<ItemList, 'items' | 'complete'>,
  presentedSecrets: readonly string[],
): { readonly tools: DiscoveredTool[]; readonly incomplete?: true } {
  const namedItems = items.filter(({ name }) => typeof name === 'string' && name !== '');
  let remaining = MAX_TOTAL_SCHEMA_LENGTH;
  const tools = namedItems.slice(0, MAX_TOOLS).map((item): DiscoveredTool => {
    const schema = readSchema(item, presentedSecrets, Math.min(remaining, MAX_SCHEMA_LENGTH));
    remaining -= schema.size;
    const title = redactText(item['title'], presentedSecrets, MAX_NAME_LENGTH);
    return {
      name: redactText(item['name'], presentedSecrets, MAX_NAME_LENGTH) ?? '',
      ...(title !== undefined && { title }),
      description: redactText(item['description'], presentedSecrets, MAX_DESCRIPTION_LENGTH) ?? '',
      inputSchema: schema.value,
      ...(schema.isOmitted && { schemaOmitted: true }),
    };
  });
  return { tools, ...((!complete || namedItems.length > MAX_TOOLS) && { incomplete: true }) };
}

/** Masked before it is cut: half a key is still half a key. */
function redactText(
  value: unknown,
  presentedSecrets: readonly string[],
  maxLength: number,
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = redactSecrets(value, presentedSecrets);
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

const ANY_OBJECT_SCHEMA = { type: 'object' };

function readSchema(
  { inputSchema }: JsonObject,
  presentedSecrets: readonly string[],
  maxLength: number,
): { readonly value: Record<string, unknown>; readonly size: number; readonly isOmitted: boolean } {
  if (!isMapping(inputSchema)) return { value: ANY_OBJECT_SCHEMA, size: 0, isOmitted: false };
  const text = JSON.stringify(inputSchema);
  // As it stands in JSON. A schema that repeats what it was shown is not mended but left out.
  const containsSecret = presentedSecrets.some((value) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (containsSecret || text.length > maxLength)
    return { value: ANY_OBJECT_SCHEMA, size: 0, isOmitted: true };
  return { value: inputSchema, size: text.length, isOmitted: false };
}
