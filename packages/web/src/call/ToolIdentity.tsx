import { IdText } from './IdText.tsx';
import { escapeInvisible } from './escapeInvisible.ts';

/** A tool by its title, which its server may choose freely, and by its ID, which is unique on its server. */
export function ToolIdentity({ tool, title }: { readonly tool: string; readonly title: string }) {
  return (
    <>
      {title !== '' && title !== tool && <bdi>{escapeInvisible(title)}</bdi>} <IdText name={tool} />
    </>
  );
}
