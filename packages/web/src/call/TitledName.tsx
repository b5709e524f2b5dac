import { Name } from './Name.tsx';
import { visibleText } from './visibleText.ts';

/** The title of a tool or server. The ID, which is unique, is in the tooltip; without a title the ID is shown. */
export function TitledName({
  name,
  title,
  className,
}: {
  readonly name: string;
  readonly title: string | undefined;
  readonly className?: string | undefined;
}) {
  if (!title || title === name) return <Name name={name} className={className} />;
  return (
    <bdi className={className} title={visibleText(name)}>
      {visibleText(title)}
    </bdi>
  );
}
