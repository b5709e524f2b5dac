import { visibleText } from './visibleText.ts';

/** A name that must be told from others: each by itself, and nothing hidden in it. */
export function Name({
  name,
  className,
}: {
  readonly name: string;
  readonly className?: string | undefined;
}) {
  return (
    <bdi>
      <code className={className}>{visibleText(name)}</code>
    </bdi>
  );
}
