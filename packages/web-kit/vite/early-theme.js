// Applies the remembered choices of ../src/theme before the first paint.
{
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
  if (localStorage.getItem('density') === 'compact') document.documentElement.dataset['density'] = 'compact'
}
