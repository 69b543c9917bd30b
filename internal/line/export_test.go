package line

var Spread = spread
