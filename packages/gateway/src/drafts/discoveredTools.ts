import type { DiscoveredTool } from '@behalf/contracts';
import type { ItemList } from '../catalog/listAll.ts';
import { isMapping } from '../registry/canonical.ts';
import { redactSecrets } from '../toolcall/maskPresented.ts';
import type { JsonObject } from '../upstream/upstream.ts';

const MOST_TOOLS = 500;
const LONGEST_NAME = 256;
const LONGEST_DESCRIPTION = 4_096;
const LARGEST_SCHEMA = 32 * 1024;
/** Of all schemas together: an answer that somebody waits for, from a server that nobody vouches for. */
const LARGEST_SCHEMAS = 1024 * 1024;

/**
 * The tools of a server that nobody saved, within bounds, and without what it was shown to let us in: a server that repeats a key or a
 * token has it repeated to nobody.
 */
export function discoveredTools(
  { items, complete }: Pick<ItemList, 'items' | 'complete'>,
  shown: readonly string[],
): { readonly tools: DiscoveredTool[]; readonly incomplete?: true } {
  const named = items.filter(({ name }) => typeof name === 'string' && name !== '');
  let left = LARGEST_SCHEMAS;
  const tools = named.slice(0, MOST_TOOLS).map((item): DiscoveredTool => {
    const schema = schemaOf(item, shown, Math.min(left, LARGEST_SCHEMA));
    left -= schema.size;
    const title = textOf(item['title'], shown, LONGEST_NAME);
    return {
      name: textOf(item['name'], shown, LONGEST_NAME) ?? '',
      ...(title !== undefined && { title }),
      description: textOf(item['description'], shown, LONGEST_DESCRIPTION) ?? '',
      inputSchema: schema.value,
      ...(schema.isOmitted && { schemaOmitted: true }),
    };
  });
  return { tools, ...((!complete || named.length > MOST_TOOLS) && { incomplete: true }) };
}

/** Masked before it is cut: half a key is still half a key. */
function textOf(value: unknown, shown: readonly string[], longest: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = redactSecrets(value, shown);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

const ANYTHING = { type: 'object' };

function schemaOf(
  { inputSchema }: JsonObject,
  shown: readonly string[],
  largest: number,
): { readonly value: Record<string, unknown>; readonly size: number; readonly isOmitted: boolean } {
  if (!isMapping(inputSchema)) return { value: ANYTHING, size: 0, isOmitted: false };
  const text = JSON.stringify(inputSchema);
  // As it stands in JSON. A schema that repeats what it was shown is not mended but left out.
  const repeats = shown.some((value) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (repeats || text.length > largest) return { value: ANYTHING, size: 0, isOmitted: true };
  return { value: inputSchema, size: text.length, isOmitted: false };
}
