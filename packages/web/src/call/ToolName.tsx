import { Name } from './Name.tsx';
import { visibleText } from './visibleText.ts';

/** A tool by its title, which its server may choose freely, and by its ID, which is unique on its server. */
export function ToolName({ tool, title }: { readonly tool: string; readonly title: string }) {
  return (
    <>
      {title !== '' && title !== tool && <bdi>{visibleText(title)}</bdi>} <Name name={tool} />
    </>
  );
}
