import { IdText } from './IdText.tsx';
import { escapeInvisible } from './escapeInvisible.ts';

/** The title of a tool or server. The ID, which is unique, is in the tooltip; without a title the ID is shown. */
export function TitleOrId({
  name,
  title,
  className,
}: {
  readonly name: string;
  readonly title: string | undefined;
  readonly className?: string | undefined;
}) {
  if (!title || title === name) return <IdText name={name} className={className} />;
  return (
    <bdi className={className} title={escapeInvisible(name)}>
      {escapeInvisible(title)}
    </bdi>
  );
}
