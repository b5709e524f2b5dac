import { hash } from 'node:crypto';
import type { CatalogTool } from '../catalog/catalog.ts';
import { stableStringify } from '../registry/stableStringify.ts';
import type { JsonObject } from '../upstream/upstream.ts';

/** What a person read before they approved: when the server changes any of it, they are asked again. */
export function hashTool({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: Pick<CatalogTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>): string {
  return sha256(stableStringify([name, title, description, inputSchema, annotations]));
}

/** Arguments are few and can be guessed: this is kept sealed, and nowhere else. */
export function hashArguments(args: JsonObject): string {
  return sha256(stableStringify(args));
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
